import type { Time } from '@sluice/core';
import type { Cancel } from '@sluice/core/store';
import type { ClusterConnection, ClusterListener } from '../servers/cluster-connection.ts';
import type { Connection } from '../servers/connection.ts';
import type { NatMap } from '../servers/redirects.ts';
import type { NodeRedisConnection } from './node-redis-connection.ts';
import { Seeds } from './seeds.ts';
import { readSlotMap, type SlotMap } from './slot-map.ts';

/** How long a node may take to answer with its slot map, before the next node is asked. */
const ANSWER_MS = 250;

/** A slot map that nothing has asked for is refreshed after this time, so that new replicas are known before a failover. */
const REFRESH_MS = 5000;

/** What a cluster is made of. */
export interface NodeRedisClusterParts {
  readonly natMap: NatMap | undefined;
  /** Connect to the user's startup nodes. */
  readonly connectSeeds: readonly (() => NodeRedisConnection)[];
  /** Connects to a node of the slot map, by its `host:port`. */
  readonly connectNode: (address: string) => NodeRedisConnection;
  readonly time: Time;
}

/**
 * The nodes of a cluster, each with a connection of node-redis 6. The slot map is kept here and not by the cluster of
 * node-redis: that would wait for a node that hangs, queue commands and follow redirections by itself.
 */
export class NodeRedisCluster implements ClusterConnection {
  readonly isCluster = true;
  readonly #parts: NodeRedisClusterParts;
  readonly #listeners = new Set<ClusterListener>();
  /** Primaries and replicas: a promoted replica can be used at once. */
  readonly #nodes = new Map<string, NodeRedisConnection>();
  readonly #seeds: Seeds;
  #map: SlotMap | undefined;
  #isRefreshing = false;
  /** The node that is asked first, so that no node is asked always. */
  #first = 0;
  #cancelRefresh: Cancel | undefined;
  #isClosed = false;

  constructor(parts: NodeRedisClusterParts) {
    this.#parts = parts;
    this.#seeds = new Seeds({
      connect: parts.connectSeeds,
      time: parts.time,
      discover: async (seed) => this.#use(await this.#ask(seed)),
      onFailure: (error) => {
        for (const { failed } of this.#listeners) failed(error);
      },
    });
    this.#seeds.open();
  }

  get isReady(): boolean {
    return this.#map !== undefined && !this.#isRefreshing;
  }

  get natMap(): NatMap | undefined {
    return this.#parts.natMap;
  }

  listen(listener: ClusterListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  primaries(): ReadonlyMap<string, Connection> {
    return new Map([...(this.#map?.primaries ?? [])].map((address) => [address, this.#nodes.get(address)!]));
  }

  primaryOf(slot: number): string | undefined {
    return this.#map?.primaryOf[slot];
  }

  setPrimary(slot: number, address: string): void {
    if (this.#map !== undefined) this.#map.primaryOf[slot] = address;
  }

  refresh(onFailure: () => void): void {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    void this.#askInTurn().then((map) => {
      this.#isRefreshing = false;
      if (this.#isClosed) return;
      if (map !== undefined) return this.#use(map);
      this.#refreshLater();
      onFailure();
    });
  }

  rediscover(): void {
    this.#seeds.open();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRefresh?.();
    this.#listeners.clear();
    await Promise.all([this.#seeds.close(), ...[...this.#nodes.values()].map((node) => node.close())]);
  }

  /** Asks the connected nodes, one after the other, until one answers with a slot map. */
  async #askInTurn(): Promise<SlotMap | undefined> {
    const connected = [...this.#nodes.values()].filter(({ status }) => status === 'ready');
    const first = this.#first++ % Math.max(1, connected.length);
    for (const node of [...connected.slice(first), ...connected.slice(0, first)]) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- the next one is asked only if this one does not answer
        return await this.#ask(node);
      } catch {
        // It may hang, or have left the cluster.
      }
    }
    return undefined;
  }

  #ask(node: NodeRedisConnection): Promise<SlotMap> {
    return new Promise((resolve, reject) => {
      const { cancel } = this.#parts.time.alarm(ANSWER_MS, () => {
        reject(new Error(`Redis at ${node.address} did not answer CLUSTER SLOTS within ${ANSWER_MS} ms.`));
      });
      const reply = node.command(['CLUSTER', 'SLOTS']);
      reply
        .finally(cancel)
        .then((slots) => readSlotMap(slots, { host: node.host, natMap: this.natMap }))
        .then(resolve, reject);
    });
  }

  #use(map: SlotMap): void {
    if (this.#isClosed) return;
    this.#map = map;
    for (const address of map.nodes) {
      if (!this.#nodes.has(address)) this.#nodes.set(address, this.#parts.connectNode(address));
    }
    this.#refreshLater();
    for (const { refreshed } of this.#listeners) refreshed();
    for (const [address, node] of this.#nodes) if (!map.nodes.has(address)) this.#drop(address, node);
    void this.#seeds.close();
  }

  #drop(address: string, node: NodeRedisConnection): void {
    this.#nodes.delete(address);
    void node.close();
  }

  #refreshLater(): void {
    this.#cancelRefresh?.();
    this.#cancelRefresh = this.#parts.time.alarm(REFRESH_MS, () => this.refresh(() => {})).cancel;
  }
}
