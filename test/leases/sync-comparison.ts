// sync.lua and decide.lua on a real server with the clock of a test, and beside them the model of Redis and the exact
// definition of a sync. After each step all that a process sees, and all that is stored, must be the same.
import { isDeepStrictEqual } from 'node:util';
import type { StoreTransaction } from '@sluice/core';
import { passes } from '@sluice/core/kit';
import { FakeTime } from '@sluice/core/testing';
import type { SyncCall, SyncEntry, SyncReply } from '../../packages/redis/src/leases/sync-call.ts';
import { decodeSync, encodeSync } from '../../packages/redis/src/leases/sync-script.ts';
import { runSteered, STEERED_ORIGIN_MICROS } from '../../packages/redis/test/support/steered-script.ts';
import { SteeredStore } from '../../packages/redis/test/support/steered-store.ts';
import type { RedisServer } from '../redis/servers/redis-server.ts';
import { exactSync, type ExactBucket } from './exact-sync.ts';
import { RedisModel, type Snapshot } from './redis-model.ts';
import {
  KEYS,
  PROCESSES,
  type LeasedNumbers,
  type Scene,
  type SceneEntry,
  type SceneStep,
  type SceneSync,
  type StrictStep,
} from './sync-scenes.ts';

const TICKS_PER_MICRO = 16;
const LIMIT = 'Leased';
/** The clock can be set back by so much. */
const START_MS = 6 * 365 * 86_400_000;
const ids = Array.from({ length: KEYS }, (_, i) => `${i}`);

/** What happened in scenes, so that a test can tell whether it happened often enough. */
export class SceneCounts {
  batches = 0;
  keys = 0;
  duplicates = 0;
  losses = 0;
  granted = 0;
  lowered = 0;
  repaired = 0;
  expired = 0;
}

/** The raw value of a key, followed by its expiry. */
type Raw = string | null;

export class SyncComparison {
  readonly #server: RedisServer;
  readonly #source: string;
  readonly #counts: SceneCounts;
  readonly #numbers: readonly [LeasedNumbers, LeasedNumbers];
  readonly #time: FakeTime;
  readonly #lastMicros: number;
  readonly #store: SteeredStore;
  readonly #model = new RedisModel(() => this.#nowTicks);
  readonly #keys: readonly string[];
  readonly #streams: readonly string[];
  readonly #calls: SyncCall[][] = Array.from({ length: PROCESSES }, () => []);
  readonly #answered: number[] = Array.from({ length: PROCESSES }, () => 0);
  /** By process and key: the TAT in the last reply. */
  readonly #floors = new Map<string, number>();
  #saved: { readonly raws: readonly Raw[]; readonly model: Snapshot } | undefined;
  #taken: { readonly key: number; readonly incrementTicks: number; readonly tatAfterSpendTicks: number } | undefined;

  /** @param source - sync.lua, or a text that differs from it. */
  constructor(server: RedisServer, source: string, { numbers, isLate }: Scene, counts: SceneCounts) {
    this.#server = server;
    this.#source = source;
    this.#counts = counts;
    this.#numbers = numbers;
    const longest = Math.max(...numbers.map(({ capTicks }) => capTicks));
    this.#time = new FakeTime(START_MS);
    this.#store = new SteeredStore(server, this.#time);
    const originMicros = this.#store.clockMicros - this.#time.nowMicros();
    this.#lastMicros = Math.floor((2 ** 53 - longest) / TICKS_PER_MICRO) - originMicros;
    if (isLate) this.#time.set(Math.floor(0.999 * this.#lastMicros) / 1000);
    this.#keys = ids.map((id) => this.#store.keyOf({ limit: LIMIT, id }));
    this.#streams = Array.from({ length: PROCESSES }, (_, i) => `${this.#keys[0]}:process:${i}`);
  }

  /** Returns the first difference; undefined if there is none. */
  async run(steps: readonly SceneStep[]): Promise<string | undefined> {
    let raws = await this.#readAll();
    for (const step of steps) {
      this.#move(step, raws);
      // What has expired stays so, even if the clock is set back later.
      const expired = [...raws.keys()].filter((place) => this.#aliveText(raws[place]!) === undefined);
      raws = raws.map((raw) => this.#aliveText(raw) ?? null);
      // oxlint-disable-next-line no-await-in-loop
      await this.#delete(expired);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const difference = await this.#act(step, raws);
      if (difference !== undefined) return difference;
      // oxlint-disable-next-line no-await-in-loop
      raws = await this.#readAll();
      const stored = this.#compareStored(raws);
      if (stored !== undefined) return `after ${JSON.stringify(step)}: ${stored}`;
    }
    return undefined;
  }

  get #nowTicks(): number {
    return this.#store.clockMicros * TICKS_PER_MICRO;
  }

  #move({ move, by }: SceneStep, raws: readonly Raw[]): void {
    const micros = this.#time.nowMicros();
    const fillMicros = Math.min(this.#numbers[0].fitTicks, 1e11) / TICKS_PER_MICRO;
    const expiries = raws.flatMap((raw) => (raw === null ? [] : Number(raw.split(' ')[1])));
    const expiry = expiries[Math.floor(by * expiries.length)] ?? 0;
    const expiryMicros = expiry - STEERED_ORIGIN_MICROS - this.#store.clockMicros + micros;
    const to = {
      none: micros,
      on: micros + by * fillMicros,
      'a little': micros + by * 100,
      second: micros + 1_000_000,
      expiry: Math.max(expiryMicros, micros),
      'just before': Math.max(expiryMicros - 1, micros),
      back: Math.max(0, micros - (by * 2 * this.#numbers[0].capTicks) / TICKS_PER_MICRO),
    }[move];
    this.#time.set(Math.floor(Math.min(to, this.#lastMicros)) / 1000);
  }

  async #act({ action }: SceneStep, raws: readonly Raw[]): Promise<string | undefined> {
    if (action.kind === 'sync') return this.#sync(action, raws);
    if (action.kind === 'repeat') return this.#repeat(action.process, action.ago, raws);
    if (action.kind === 'strict') return this.#strict(action);
    if (action.kind === 'delete') return this.#delete([action.key]);
    if (action.kind === 'flush') return this.#delete([...raws.keys()]);
    if (action.kind === 'save') this.#saved = { raws, model: this.#model.snapshot() };
    else if (this.#saved !== undefined) await this.#restore(this.#saved);
    return undefined;
  }

  async #sync(step: SceneSync, raws: readonly Raw[]): Promise<string | undefined> {
    const calls = this.#calls[step.process]!;
    const call: SyncCall = {
      stream: this.#streams[step.process]!,
      sequence: calls.length + 1,
      answeredSequence: step.forgets ? 0 : this.#answered[step.process]!,
      streamLifeMs: step.lifeMs,
      latestTicks: this.#nowTicks + { no: 1_600_000, 'just not': 0, just: -1, expired: -1 }[step.late],
      entries: step.entries.map((entry) => this.#entry(step.process, entry)),
    };
    calls.push(call);
    if (step.late === 'expired') return this.#expire(call);
    return this.#compareSync(step.process, call, raws);
  }

  async #repeat(process: number, ago: number, raws: readonly Raw[]): Promise<string | undefined> {
    const call = this.#calls[process]!.at(-1 - ago);
    return call && this.#compareSync(process, call, raws);
  }

  #entry(process: number, entry: SceneEntry): SyncEntry {
    const { intervalTicks, burst, fitTicks, capTicks } = this.#numbers[entry.numbers];
    const key = this.#keys[entry.key]!;
    const chargeTicks = Math.floor(entry.charge * burst) * intervalTicks;
    const last = this.#floors.get(`${process} ${entry.key}`) ?? 0;
    const off = entry.odd ? 1 : intervalTicks;
    const floors = {
      last,
      none: 0,
      above: last + off,
      below: Math.max(0, last - off),
      now: this.#nowTicks,
      soon: this.#nowTicks + 1,
    };
    return {
      key,
      chargeTicks,
      ownLevelTicks: chargeTicks === 0 ? undefined : chargeTicks - Math.floor(chargeTicks * entry.age),
      returnTicks: Math.floor(entry.back * fitTicks) + (entry.odd ? 1 : 0),
      wantedTokens: Math.floor(entry.want * burst),
      intervalTicks,
      fitTicks,
      capTicks,
      floorTicks: last === 0 && (entry.floor === 'above' || entry.floor === 'below') ? 0 : floors[entry.floor],
      lost: entry.lost,
    };
  }

  async #expire(call: SyncCall): Promise<string | undefined> {
    this.#counts.expired++;
    const reply = await this.#run(call, this.#nowTicks - 1);
    return differenceOf('a call that expired', reply, [0, this.#nowTicks]);
  }

  async #compareSync(process: number, call: SyncCall, raws: readonly Raw[]): Promise<string | undefined> {
    // A call may write until this moment.
    const [done, ...rest] = await this.#run(call, this.#nowTicks);
    const reply = decodeSync(call, rest);
    const model = this.#model.sync(call);
    const stored = this.#storedSequence(call, raws);
    this.#note(call, reply);
    this.#answered[process] = Math.max(this.#answered[process]!, call.sequence);
    for (const [i, { key }] of call.entries.entries()) {
      this.#floors.set(`${process} ${this.#keys.indexOf(key)}`, reply.nowTicks + reply.buckets[i]!.levelTicks);
    }
    return (
      differenceOf('the reply', { done, ...reply }, { done: 1, ...model }) ??
      differenceOf('the exact reply', exactOf(reply), this.#exactReply(call, raws, stored))
    );
  }

  #exactReply(call: SyncCall, raws: readonly Raw[], stored: number): unknown {
    const state = {
      now: BigInt(this.#nowTicks),
      fresh: call.sequence > stored,
      lost: stored < call.answeredSequence,
      inTime: this.#nowTicks <= call.latestTicks,
    };
    const answers = call.entries.map((entry) => {
      return exactSync(this.#bucketOf(raws[this.#keys.indexOf(entry.key)]!), entry, state);
    });
    if (answers.some(({ after }, i) => this.#isRepair(after, raws[this.#keys.indexOf(call.entries[i]!.key)]!))) {
      this.#counts.repaired++;
    }
    return {
      fresh: state.fresh,
      lost: state.lost,
      buckets: answers.map(({ level, keptFloor, granted }) => ({ level, keptFloor, granted })),
    };
  }

  #isRepair(after: ExactBucket | undefined, raw: Raw): boolean {
    const bucket = this.#bucketOf(raw);
    if (after === undefined || bucket === undefined || after.tat >= bucket.tat) return false;
    const written = ((16n + (bucket.code % 16n)) << (bucket.code / 16n)) / 16n;
    return bucket.tat - BigInt(this.#nowTicks) > written;
  }

  #storedSequence({ stream }: SyncCall, raws: readonly Raw[]): number {
    return Number(this.#aliveText(raws[KEYS + this.#streams.indexOf(stream)]!)?.split(' ')[0] ?? 0);
  }

  #note({ entries }: SyncCall, { fresh, lost, buckets }: SyncReply): void {
    const counts = this.#counts;
    counts.batches++;
    counts.keys += entries.length;
    if (!fresh) counts.duplicates++;
    if (lost) counts.losses++;
    counts.granted += buckets.filter(({ grantedTokens }) => grantedTokens > 0).length;
    counts.lowered += buckets.filter(({ keptFloor }) => !keptFloor).length;
  }

  async #strict({ call, mode, key, numbers, share }: StrictStep): Promise<string | undefined> {
    const { burst, intervalTicks, fitTicks, capTicks } = this.#numbers[numbers];
    const incrementTicks = Math.floor(share * burst) * intervalTicks;
    const onKey = { key: this.#keys[key]!, incrementTicks, fitTicks, capTicks, mode } as const;
    const batch = [{ limit: LIMIT, id: ids[key]!, incrementTicks, fitTicks, capTicks, mode }] as const;
    if (call === 'reset') {
      this.#model.reset(onKey.key);
      await this.#store.reset(batch);
      return undefined;
    }
    if (call === 'spend') {
      const { levelsTicks } = await this.#store.spend(batch);
      this.#noteTaken(batch[0], key, levelsTicks[0]!);
      return differenceOf('spend', levelsTicks, this.#model.spend([onKey]));
    }
    if (call === 'refund of a decision') {
      if (this.#taken === undefined) return undefined;
      const { key: place, ...taken } = this.#taken;
      this.#taken = undefined;
      const { levelsTicks } = await this.#store.refund([{ ...batch[0], ...taken, id: ids[place]! }]);
      return differenceOf(call, levelsTicks[0], this.#model.refund({ ...onKey, ...taken, key: this.#keys[place]! }));
    }
    const { levelsTicks } = await this.#store[call](batch);
    return differenceOf(call, levelsTicks[0], this.#model[call](onKey));
  }

  #noteTaken(transaction: StoreTransaction, key: number, levelTicks: number): void {
    const { incrementTicks, mode } = transaction;
    if (mode !== 'check-and-spend' || !passes([transaction], [levelTicks])) return;
    this.#taken = { key, incrementTicks, tatAfterSpendTicks: this.#nowTicks + levelTicks + incrementTicks };
  }

  async #delete(places: readonly number[]): Promise<undefined> {
    if (places.length === 0) return;
    await this.#server.call('DEL', ...places.map((place) => [...this.#keys, ...this.#streams][place]!));
    const { buckets, streams } = this.#model.snapshot();
    const isLeft = ([key]: readonly [string, unknown]): boolean => {
      return !places.includes([...this.#keys, ...this.#streams].indexOf(key));
    };
    this.#model.restore({
      buckets: new Map([...buckets].filter(isLeft)),
      streams: new Map([...streams].filter(isLeft)),
    });
  }

  async #restore({ raws, model }: { readonly raws: readonly Raw[]; readonly model: Snapshot }): Promise<void> {
    await this.#delete([...raws.keys()]);
    const pairs = [...this.#keys, ...this.#streams].flatMap((key, i) => {
      const raw = raws[i]!;
      return raw === null ? [] : [key, raw];
    });
    if (pairs.length > 0) await this.#server.call('MSET', ...pairs);
    this.#model.restore(model);
  }

  #run(call: SyncCall, expiryTicks: number): Promise<unknown[]> {
    return runSteered(this.#server, this.#source, this.#store.clockMicros, { ...encodeSync(call), expiryTicks });
  }

  #readAll(): Promise<readonly Raw[]> {
    return this.#server.call<Raw[]>('MGET', ...this.#keys, ...this.#streams);
  }

  #bucketOf(raw: Raw): ExactBucket | undefined {
    const [digits] = this.#aliveText(raw)?.split(' ') ?? [];
    return digits === undefined ? undefined : { tat: BigInt(digits.slice(0, -3)), code: BigInt(digits.slice(-3)) };
  }

  #aliveText(raw: Raw): string | undefined {
    const isAlive = STEERED_ORIGIN_MICROS + this.#store.clockMicros < Number(raw?.split(' ')[1]);
    return isAlive ? raw! : undefined;
  }

  /** The buckets and streams of the server and those of the model, without what has expired. */
  #compareStored(raws: readonly Raw[]): string | undefined {
    const texts = raws.map((raw) => this.#aliveText(raw));
    const ofModel = [
      ...this.#keys.map((key) => {
        const bucket = this.#model.bucket(key);
        return bucket && `${bucket.tatTicks}${codeText(bucket.writtenTicks)} ${expiryText(bucket)}`;
      }),
      ...this.#streams.map((key) => {
        const stream = this.#model.stream(key);
        return stream && `${stream.sequence} ${expiryText(stream)}`;
      }),
    ];
    return differenceOf('stored', texts, ofModel);
  }
}

function exactOf({ fresh, lost, buckets }: SyncReply): unknown {
  return {
    fresh,
    lost,
    buckets: buckets.map(({ levelTicks, keptFloor, grantedTokens }) => {
      return { level: BigInt(levelTicks), keptFloor, granted: BigInt(grantedTokens) };
    }),
  };
}

/** The three digits for a level of the form 2^e × (16 + f) / 16. */
function codeText(writtenTicks: number): string {
  const exponent = Math.floor(Math.log2(writtenTicks));
  return String(16 * exponent + 16 * (writtenTicks / 2 ** exponent - 1)).padStart(3, '0');
}

function expiryText({ expiryTicks }: { readonly expiryTicks: number }): string {
  return String(STEERED_ORIGIN_MICROS + expiryTicks / TICKS_PER_MICRO);
}

export function differenceOf(what: string, said: unknown, expected: unknown): string | undefined {
  if (isDeepStrictEqual(said, expected)) return undefined;
  return `${what}: ${textOf(said)} instead of ${textOf(expected)}`;
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
}
