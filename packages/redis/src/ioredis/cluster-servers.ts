import { SluiceError } from '@sluice/core';
import { slotOf } from '../client/slot.ts';
import type { Channel } from './script-server.ts';
import type { ClusterConnection } from './connection.ts';
import { endedCluster } from './ended.ts';
import type { LineParts } from '../client/line-parts.ts';
import { Primaries } from './primaries.ts';
import { reachable, redirectOf, type Redirect } from './redirects.ts';
import { errorWord, unavailable, withoutCommand } from '../client/server-errors.ts';
import type { Servers } from '../client/servers.ts';
import { SlotRefresh } from './slot-refresh.ts';
import type { Source } from '../client/state-log.ts';
import type { Trip } from '../client/script-run.ts';

const MAX_REDIRECTS = 2;
/** After this time without an open channel, the cluster is discovered again from the user's startup nodes. */
const LOST_MS = 2000;

/**
 * The primaries of a cluster, each with a clock of its own. ioredis maintains the connections and the slot map. Calls
 * are sent and redirected here, so that each attempt has its expiry in the time of the node that executes it.
 */
export class ClusterServers implements Servers {
  readonly isCluster = true;
  readonly #cluster: ClusterConnection;
  readonly #parts: LineParts;
  readonly #onChange: (source: Source) => void;
  readonly #primaries: Primaries;
  readonly #refresh: SlotRefresh;
  readonly #onRefresh = (): void => this.#refreshed();
  readonly #onError = (error: unknown): void => this.#failed(error);
  #lastError: unknown;
  #refusal: SluiceError | undefined;
  #lastOpenMs: number;
  #wasUp = false;

  constructor(cluster: ClusterConnection, parts: LineParts, onChange: (source: Source) => void) {
    this.#cluster = cluster;
    this.#parts = parts;
    this.#onChange = onChange;
    this.#lastOpenMs = parts.scheduler.nowMs();
    this.#primaries = new Primaries(cluster, parts, (channel) => this.#changed(channel));
    this.#refresh = new SlotRefresh(cluster, parts.scheduler, () => this.#findAgain());
    cluster.on('refresh', this.#onRefresh);
    cluster.on('error', this.#onError);
  }

  get state(): Servers['state'] {
    const all = this.#primaries.all();
    const tried = all.filter(({ wasTried }) => wasTried);
    // Channels that have not been tried are left out. At the start, the state is only known once all were tried.
    if (tried.length === 0 || (!this.#wasUp && tried.length < all.length)) {
      return this.#lastError === undefined ? 'connecting' : 'down';
    }
    const well = tried.filter(({ isWell }) => isWell).length;
    if (well === 0) return 'down';
    return well === tried.length ? 'up' : 'degraded';
  }

  channels(): readonly Channel[] {
    return this.#primaries.all();
  }

  run(trip: Trip): Promise<readonly unknown[]> | SluiceError {
    const [address] = this.#cluster.slots[slotOf(trip.call.keys[0]!)] ?? [];
    const channel = this.#primaries.at(address);
    if (channel?.isOpen) return this.#runOn(channel, trip, { asking: false, redirectsLeft: MAX_REDIRECTS });
    this.#refresh.soon();
    return channel?.refusal() ?? this.#unmapped();
  }

  async close(): Promise<void> {
    this.#cluster.off('refresh', this.#onRefresh);
    this.#cluster.off('error', this.#onError);
    this.#refresh.close();
    this.#primaries.close();
    await endedCluster(this.#cluster);
  }

  async #runOn(channel: Channel, trip: Trip, route: Route): Promise<readonly unknown[]> {
    try {
      return await channel.run(trip, route.asking);
    } catch (error) {
      // The node may have been removed or replaced, which a refresh of the slot map shows.
      if (error instanceof SluiceError && error.code === 'ERR_STORE_UNAVAILABLE') this.#refresh.soon();
      const redirect = redirectOf(error);
      const next = redirect === undefined ? undefined : this.#channelOf(redirect, channel);
      if (redirect === undefined || !next?.isOpen || route.redirectsLeft === 0) throw error;
      this.#parts.counts.redirects++;
      return await this.#runOn(next, trip, { asking: !redirect.isForGood, redirectsLeft: route.redirectsLeft - 1 });
    }
  }

  #channelOf({ address, isForGood, slot }: Redirect, from: Channel): Channel | undefined {
    const reached = reachable(address, from.connection.options.host, this.#cluster.options.natMap);
    if (isForGood) this.#cluster.slots[slot] = [reached];
    return this.#primaries.at(reached);
  }

  #refreshed(): void {
    this.#primaries.update();
    this.#mend();
  }

  #changed(channel: Channel): void {
    if (channel.isOpen) this.#lastOpenMs = this.#parts.scheduler.nowMs();
    this.#refusal = undefined;
    this.#wasUp ||= this.state === 'up';
    this.#mend();
    this.#onChange(channel);
  }

  #failed(error: unknown): void {
    const { lastNodeError } = error as { lastNodeError?: unknown };
    // The reply of a node, such as NOAUTH, explains more than the error of ioredis that all nodes have failed.
    this.#lastError = errorWord(lastNodeError) === undefined ? error : withoutCommand(lastNodeError);
    this.#refusal = undefined;
    this.#onChange({ server: 'the nodes of the cluster', lastError: this.#lastError });
  }

  /**
   * Refreshes the slot map while a primary is not open: ioredis then connects to it again, or another primary takes
   * over.
   */
  #mend(): void {
    if (this.#primaries.all().some(({ isOpen }) => !isOpen)) this.#refresh.soon();
  }

  // If no known node has answered for a while, the whole cluster may have moved. The startup nodes may lead to it.
  #findAgain(): void {
    const isAnyOpen = this.#primaries.all().some(({ isOpen }) => isOpen);
    const lostMs = this.#parts.scheduler.nowMs() - this.#lastOpenMs;
    if (isAnyOpen || lostMs < LOST_MS) return this.#mend();
    this.#lastOpenMs = this.#parts.scheduler.nowMs();
    this.#cluster.disconnect(true);
  }

  #unmapped(): SluiceError {
    const what = 'No node of the Redis Cluster is known for the hash slot';
    this.#refusal ??=
      this.#lastError === undefined
        ? new SluiceError('ERR_STORE_UNAVAILABLE', `${what} yet.`)
        : unavailable(what, this.#lastError);
    return this.#refusal;
  }
}

/** How a call reaches a node. */
interface Route {
  readonly asking: boolean;
  readonly redirectsLeft: number;
}
