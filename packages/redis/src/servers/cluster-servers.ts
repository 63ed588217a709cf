import { SluiceError } from '@sluice/core';
import type { ScriptRun } from '../client/script-run.ts';
import type { ClientParts, ScriptServers } from '../client/script-servers.ts';
import { unavailableError } from '../client/server-errors.ts';
import { slotOf } from '../client/slot.ts';
import type { ChangeSource } from '../client/state-log.ts';
import type { ClusterConnection } from './cluster-connection.ts';
import { Primaries } from './primaries.ts';
import { MAX_REDIRECTS, reachableAddress, redirectOf, type Redirect } from './redirects.ts';
import type { ScriptServer } from './script-server.ts';
import { SlotRefresh } from './slot-refresh.ts';

/** After this time without an open server, the cluster is discovered again from the user's startup nodes. */
const LOST_MS = 2000;

/**
 * The primaries of a cluster, each with a clock of its own. The cluster connection maintains the connections and the slot map. Calls
 * are sent and redirected here, so that each attempt has its expiry in the time of the node that executes it.
 */
export class ClusterServers implements ScriptServers {
  readonly isCluster = true;
  readonly #cluster: ClusterConnection;
  readonly #parts: ClientParts;
  readonly #onChange: (source: ChangeSource) => void;
  readonly #primaries: Primaries;
  readonly #refresh: SlotRefresh;
  readonly #stopListening: () => void;
  #lastError: unknown;
  #unmappedError: SluiceError | undefined;
  #lastOpenMicros: number;
  #wasUp = false;
  /** Whether no node could be reached, since a server was last open. */
  #isUnreachable = false;

  constructor(cluster: ClusterConnection, parts: ClientParts, onChange: (source: ChangeSource) => void) {
    this.#cluster = cluster;
    this.#parts = parts;
    this.#onChange = onChange;
    this.#lastOpenMicros = parts.time.nowMicros();
    this.#primaries = new Primaries(cluster, parts, {
      onChange: (server) => this.#noteChange(server),
      onFailure: (server, run, error) => this.#handleFailure(server, run, error),
    });
    this.#refresh = new SlotRefresh(cluster, parts.time, () => this.#rediscover());
    this.#stopListening = cluster.listen({
      refreshed: () => this.#update(),
      failed: (error) => this.#noteError(error),
    });
  }

  get state(): ScriptServers['state'] {
    const all = this.#primaries.list();
    const tried = all.filter(({ wasTried }) => wasTried);
    // Servers that have not been tried are left out. At the start, the state is only known once all were tried.
    if (tried.length === 0 || (!this.#wasUp && tried.length < all.length)) {
      return this.#lastError === undefined ? 'connecting' : 'down';
    }
    const healthy = tried.filter(({ isHealthy }) => isHealthy).length;
    if (healthy === 0) return 'down';
    return healthy === tried.length ? 'up' : 'degraded';
  }

  get downCause(): SluiceError | undefined {
    if (this.#isAnyOpen()) return undefined;
    const all = this.#primaries.list();
    if (all.length > 0 && all.every(({ isDown }) => isDown)) return all[0]!.unavailableError;
    return this.#isUnreachable ? this.#createUnmappedError() : undefined;
  }

  list(): readonly ScriptServer[] {
    return this.#primaries.list();
  }

  serverOf({ keys }: ScriptRun): ScriptServer | SluiceError {
    const server = this.#primaries.find(this.#cluster.primaryOf(slotOf(keys[0]!)));
    if (server?.isOpen) return server;
    this.#refresh.schedule();
    return server?.unavailableError ?? this.#createUnmappedError();
  }

  async close(): Promise<void> {
    this.#stopListening();
    this.#refresh.close();
    this.#primaries.close();
    await this.#cluster.close();
  }

  #handleFailure(server: ScriptServer, run: ScriptRun, error: SluiceError): void {
    // The node may have been removed or replaced, which a refresh of the slot map shows.
    if (error.code === 'ERR_STORE_UNAVAILABLE') this.#refresh.schedule();
    const redirect = redirectOf(error);
    const next = redirect === undefined ? undefined : this.#follow(redirect, server);
    if (redirect === undefined || !next?.isOpen || run.redirects === MAX_REDIRECTS) return run.failed(error);
    this.#parts.counts.redirects++;
    run.redirects++;
    run.isAsking = !redirect.isForGood;
    next.send(run);
  }

  #follow({ address, isForGood, slot }: Redirect, from: ScriptServer): ScriptServer | undefined {
    const reachable = reachableAddress(address, from.connection.host, this.#cluster.natMap);
    if (isForGood) this.#cluster.setPrimary(slot, reachable);
    return this.#primaries.find(reachable);
  }

  #update(): void {
    this.#primaries.update();
    this.#refreshUnlessAllOpen();
  }

  #noteChange(server: ScriptServer): void {
    if (server.isOpen) {
      this.#lastOpenMicros = this.#parts.time.nowMicros();
      this.#isUnreachable = false;
    }
    this.#unmappedError = undefined;
    this.#wasUp ||= this.state === 'up';
    this.#refreshUnlessAllOpen();
    this.#onChange(server);
  }

  #noteError(error: unknown): void {
    this.#lastError = error;
    this.#unmappedError = undefined;
    this.#isUnreachable = !this.#isAnyOpen();
    this.#onChange({ server: 'the nodes of the cluster', lastError: this.#lastError });
  }

  /**
   * Refreshes the slot map while a primary is not open: the cluster connection then connects to it again, or another primary takes
   * over.
   */
  #refreshUnlessAllOpen(): void {
    if (this.#primaries.list().some(({ isOpen }) => !isOpen)) this.#refresh.schedule();
  }

  // If no known node has answered for a while, the whole cluster may have moved. The startup nodes may lead to it.
  #rediscover(): void {
    const lostMs = (this.#parts.time.nowMicros() - this.#lastOpenMicros) / 1000;
    if (this.#isAnyOpen() || lostMs < LOST_MS) return this.#refreshUnlessAllOpen();
    this.#lastOpenMicros = this.#parts.time.nowMicros();
    this.#cluster.rediscover();
  }

  #isAnyOpen(): boolean {
    return this.#primaries.list().some(({ isOpen }) => isOpen);
  }

  #createUnmappedError(): SluiceError {
    const what = 'No node of the Redis Cluster is known for the hash slot';
    this.#unmappedError ??=
      this.#lastError === undefined
        ? new SluiceError('ERR_STORE_UNAVAILABLE', `${what} yet.`)
        : unavailableError(what, this.#lastError);
    return this.#unmappedError;
  }
}
