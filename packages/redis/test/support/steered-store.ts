import {
  SluiceError,
  type Store,
  type StoreCap,
  type StoreCharge,
  type StoreHold,
  type StoreReading,
  type StoreRefund,
  type StoreTransaction,
  type Time,
} from '@sluice/core';
import { bucketKey, type StoreBucket } from '@sluice/core';
import type { RedisServer } from '../../../../test/redis/servers/redis-server.ts';
import { joinAlternatives, splitReading } from '../../src/batches/alternatives.ts';
import { BatchRequest, type BatchEntry, type BatchRequestParts } from '../../src/batches/batch-request.ts';
import { decideScript, ScriptBatch } from '../../src/batches/script-batch.ts';

const START_MICROS = Date.UTC(2026, 6, 1) * 1000;

/** The script, with a clock that a test sets, also for the expiry of keys. */
const STEERED = `local real = redis
local clock = real.call('GET', 'clock') + 0
local redis = {}
local function expire(name, key)
  if string.sub(name, 1, 1) ~= 'Z' then return end
  local expiry = real.call('GET', key .. ' expiry')
  if expiry and clock >= expiry + 0 then real.call('DEL', key, key .. ' expiry') end
end
function redis.call(name, key, value, ...)
  expire(name, key)
  if name == 'TIME' then
    return { string.format('%.0f', math.floor(clock / 1000000)), string.format('%.0f', clock % 1000000) }
  elseif name == 'SET' then
    local _, px = ...
    return real.call('SET', key, value .. ' ' .. string.format('%.0f', clock + px * 1000))
  elseif name == 'PEXPIRE' then
    return real.call('SET', key .. ' expiry', string.format('%.0f', clock + value * 1000))
  end
  if value then return real.call(name, key, value, ...) end
  return real.call(name, key)
end
function redis.pcall(name, key)
  expire(name, key)
  local value = real.pcall(name, key)
  if type(value) ~= 'string' then return value end
  local space = string.find(value, ' ', 1, true)
  if clock < string.sub(value, space + 1) + 0 then return string.sub(value, 1, space - 1) end
  real.call('DEL', key)
  return false
end
${decideScript.source}`;

let stores = 0;

/** The script of the Redis store on a real server, at the time of a test: one call for each batch, without the client. */
export class SteeredStore implements Store {
  readonly traits = { periods: true, slots: true } as const;
  readonly #server: RedisServer;
  readonly #time: Time;
  readonly #prefix = `steered${stores++}:`;
  #closed = false;

  /** @param time - Its clock is that of the server, from 1 July 2026 on. */
  constructor(server: RedisServer, time: Time) {
    this.#server = server;
    this.#time = time;
  }

  spend(batch: readonly StoreTransaction[]): Promise<StoreReading> {
    return this.#run(this.#parts('spend', batch));
  }

  async spendFirst(alternatives: readonly (readonly StoreTransaction[])[]): Promise<readonly StoreReading[]> {
    const parts = alternatives.map((batch) => this.#parts('spend', batch));
    return splitReading(parts, await this.#run(joinAlternatives(parts)));
  }

  check(batch: readonly StoreTransaction[]): Promise<StoreReading> {
    return this.#run(this.#parts('check', batch));
  }

  charge(batch: readonly StoreCharge[]): Promise<StoreReading> {
    return this.#run(this.#parts('charge', batch));
  }

  refund(batch: readonly StoreRefund[]): Promise<StoreReading> {
    return this.#run(this.#parts('refund', batch));
  }

  cap(batch: readonly StoreCap[]): Promise<StoreReading> {
    return this.#run(this.#parts('cap', batch));
  }

  async renew(holds: readonly StoreHold[]): Promise<void> {
    await this.#run(this.#parts('renew', holds));
  }

  async release(holds: readonly StoreHold[]): Promise<void> {
    await this.#run(this.#parts('release', holds));
  }

  async reset(batch: readonly StoreBucket[]): Promise<void> {
    await this.#run(this.#parts('reset', batch));
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #parts(kind: BatchRequestParts['kind'], batch: readonly (BatchEntry & StoreBucket)[]): BatchRequestParts {
    if (this.#closed) throw new SluiceError('ERR_CLOSED', 'This store was closed.');
    const keys = batch.map(({ limit, id, calendar, slots }) => {
      return this.#prefix + bucketKey(limit, id, calendar ?? (slots && 'slots'));
    });
    return { kind, batch, keys, deadlineMs: 1000 };
  }

  async #run(parts: BatchRequestParts): Promise<StoreReading> {
    if (parts.keys.length === 0) {
      const { nowTicks } = await this.#run({ ...parts, kind: 'check', batch: [{}], keys: [this.#prefix] });
      return { nowTicks, levelsTicks: [] };
    }
    const request = new BatchRequest(parts, { onAnswer: () => {}, onFailure: () => {} });
    const call = new ScriptBatch(1000, 0);
    call.add(request);
    const { keys, args } = call.toScriptCall(0);
    const clock = START_MICROS + this.#time.nowMicros();
    const [, reply] = await Promise.all([
      this.#server.call('SET', 'clock', String(clock)),
      this.#server.call<unknown[]>('EVAL', STEERED, keys.length, ...keys, Number.MAX_SAFE_INTEGER, ...args),
    ]);
    call.answer(reply.slice(1), 0);
    return request.reading;
  }
}
