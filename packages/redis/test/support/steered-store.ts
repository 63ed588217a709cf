import { SluiceError, type Store, type Time } from '@sluice/core';
import type { ServerEntry } from '@sluice/core/kit';
import { storeGuard, bucketKey, type StoreOperation, type StoreReading, type StoreBucket } from '@sluice/core/store';
import type { RedisServer } from '../../../../test/redis/servers/redis-server.ts';
import { joinAlternatives } from '../../src/batches/alternatives.ts';
import type { BatchRequestParts } from '../../src/batches/batch-request.ts';
import { decideScript } from '../../src/batches/script-batch.ts';
import { added, emptyCall } from './script-call.ts';
import { runSteered } from './steered-script.ts';

/** From 2026-01-01. */
const START_MICROS = 181 * 86_400 * 1_000_000;

let stores = 0;

/** The script of the Redis store on a real server, at the time of a test: one call for each batch, without the client. */
export class SteeredStore implements Store {
  readonly guard: object = storeGuard;
  readonly traits = { periods: true, slots: true } as const;
  readonly #server: RedisServer;
  readonly #time: Time;
  /** That of all its keys. */
  protected readonly prefix = `steered${stores++}:`;
  #closed = false;

  /** @param time - Its clock is that of the server, from 1 July 2026 on. */
  constructor(server: RedisServer, time: Time) {
    this.#server = server;
    this.#time = time;
  }

  /** The clock of the server, since 2026. */
  get clockMicros(): number {
    return START_MICROS + this.#time.nowMicros();
  }

  async run(operation: StoreOperation): Promise<StoreReading> {
    const { kind } = operation;
    if (!('alternatives' in operation)) return this.#run(this.#parts(kind, operation.batch));
    const parts = operation.alternatives.map((batch) => this.#parts(kind, batch));
    const [first] = parts;
    const isOne = first !== undefined && parts.length === 1;
    return this.#run(isOne ? first : joinAlternatives(parts));
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  keyOf({ limit, id, calendar, slots }: StoreBucket): string {
    return this.prefix + bucketKey(limit, id, calendar ?? (slots && 'slots'));
  }

  #parts(kind: BatchRequestParts['kind'], batch: readonly (ServerEntry & StoreBucket)[]): BatchRequestParts {
    if (this.#closed) throw new SluiceError('ERR_CLOSED', 'This store was closed.');
    return { kind, batch, keys: batch.map((bucket) => this.keyOf(bucket)), deadlineMs: 1000 };
  }

  async #run(parts: BatchRequestParts): Promise<StoreReading> {
    if (parts.keys.length === 0) {
      const { nowTicks } = await this.#run({ ...parts, kind: 'check', batch: [{}], keys: [this.prefix] });
      return { passed: 0, nowTicks, levelsTicks: [] };
    }
    const call = emptyCall();
    const reading = added(call, parts);
    const reply = await runSteered(this.#server, decideScript.source, this.clockMicros, call);
    call.answered(reply.slice(1));
    return reading;
  }
}
