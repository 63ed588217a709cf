import type { Time } from '@sluice/core';
import { createCounts } from '../client/script-servers.ts';
import { SupervisedConnection } from '../servers/supervised-connection.ts';
import { ConnectTimeout } from '../servers/watches.ts';
import type { NodeRedisConnection } from './node-redis-connection.ts';

interface SeedsParts {
  readonly connect: readonly (() => NodeRedisConnection)[];
  readonly time: Time;
  /** Discovers the cluster from a startup node that is connected. Rejects if that is not possible. */
  readonly discover: (seed: NodeRedisConnection) => Promise<void>;
  /** Called with the last error while every startup node has failed. */
  readonly onFailure: (error: unknown) => void;
}

interface Seed {
  readonly connection: NodeRedisConnection;
  readonly supervised: SupervisedConnection;
}

/** The connections to the startup nodes of a cluster, which are open only until the cluster was discovered. */
export class Seeds {
  readonly #parts: SeedsParts;
  #seeds: readonly Seed[] = [];

  constructor(parts: SeedsParts) {
    this.#parts = parts;
  }

  /** Connects to all of them. Has no effect while they are open. */
  open(): void {
    if (this.#seeds.length === 0) this.#seeds = this.#parts.connect.map((connect) => this.#open(connect()));
  }

  async close(): Promise<void> {
    const seeds = this.#seeds;
    this.#seeds = [];
    for (const { supervised } of seeds) supervised.close();
    await Promise.all(seeds.map(({ connection }) => connection.close()));
  }

  #open(connection: NodeRedisConnection): Seed {
    const { time, discover } = this.#parts;
    const supervised = new SupervisedConnection({
      connection,
      connectTimeout: new ConnectTimeout(),
      time,
      // The counters of the store are about the servers that run its scripts.
      counts: createCounts(),
      prepare: () => discover(connection),
      onClose: () => {},
      onChange: () => this.#noteFailure(supervised.lastError),
    });
    return { connection, supervised };
  }

  #noteFailure(error: unknown): void {
    const isLost = this.#seeds.length > 0 && this.#seeds.every(({ supervised }) => supervised.lastError !== undefined);
    if (isLost) this.#parts.onFailure(error);
  }
}
