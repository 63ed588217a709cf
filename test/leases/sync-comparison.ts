// sync.lua and decide.lua on a real server with the clock of a test, and beside them the model of Redis and the exact
// definition of a sync. After each step all that a process sees, and all that is stored, must be the same.
import { FakeTime } from '@sluice/core/testing';
import type { SyncCall, SyncEntry, SyncReply } from '../../packages/redis/src/leases/rules/sync-call.ts';
import { decodeSync, encodeSync } from '../../packages/redis/src/leases/sync-script.ts';
import { runSteered } from '../../packages/redis/test/support/steered-script.ts';
import { SteeredStore } from '../../packages/redis/test/support/steered-store.ts';
import type { RedisServer } from '../redis/servers/redis-server.ts';
import { differenceOf } from './difference.ts';
import { exactSync, type ExactAnswer } from './exact-sync.ts';
import { RedisModel } from './redis-model.ts';
import { StoredKeys } from './stored-keys.ts';
import { keyOfBucket, StrictCalls } from './strict-calls.ts';
import {
  KEYS,
  PROCESSES,
  type LeasedNumbers,
  type Scene,
  type SceneEntry,
  type SceneStep,
  type SceneSync,
} from './sync-scenes.ts';

const TICKS_PER_MICRO = 16;
/** The clock can be set back by so much. */
const START_MS = 6 * 365 * 86_400_000;

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

export class SyncComparison {
  readonly #server: RedisServer;
  readonly #source: string;
  readonly #counts: SceneCounts;
  readonly #numbers: readonly [LeasedNumbers, LeasedNumbers];
  readonly #time = new FakeTime(START_MS);
  readonly #lastMicros: number;
  readonly #store: SteeredStore;
  readonly #model = new RedisModel(() => this.#nowTicks);
  readonly #keys: readonly string[];
  readonly #streams: readonly string[];
  readonly #stored: StoredKeys;
  readonly #strict: StrictCalls;
  readonly #calls: SyncCall[][] = Array.from({ length: PROCESSES }, () => []);
  readonly #answered: number[] = Array.from({ length: PROCESSES }, () => 0);
  /** By process and key: the TAT in the last reply. */
  readonly #floors = new Map<string, number>();
  /** By key: what the last sync leaves, by the exact definition. */
  #exact = new Map<string, ExactAnswer>();

  /** @param source - sync.lua, or a text that differs from it. */
  constructor(server: RedisServer, source: string, { numbers, isLate }: Scene, counts: SceneCounts) {
    this.#server = server;
    this.#source = source;
    this.#counts = counts;
    this.#numbers = numbers;
    const longest = Math.max(...numbers.map(({ capTicks }) => capTicks));
    const store = (this.#store = new SteeredStore(server, this.#time));
    const originMicros = store.clockMicros - this.#time.nowMicros();
    this.#lastMicros = Math.floor((2 ** 53 - longest) / TICKS_PER_MICRO) - originMicros;
    if (isLate) this.#time.set(Math.floor(0.999 * this.#lastMicros) / 1000);
    this.#keys = Array.from({ length: KEYS }, (_, place) => keyOfBucket(store, place));
    this.#streams = Array.from({ length: PROCESSES }, (_, i) => `${this.#keys[0]}:process:${i}`);
    this.#strict = new StrictCalls(store, this.#model, numbers);
    this.#stored = new StoredKeys({
      server,
      model: this.#model,
      clockMicros: () => store.clockMicros,
      buckets: this.#keys,
      streams: this.#streams,
    });
  }

  /** Returns the first difference; undefined if there is none. */
  async run(steps: readonly SceneStep[]): Promise<string | undefined> {
    for (const step of steps) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const difference = await this.#step(step);
      if (difference !== undefined) return `${difference}, in ${JSON.stringify(step)}`;
    }
    return undefined;
  }

  async #step(step: SceneStep): Promise<string | undefined> {
    this.#move(step);
    await this.#stored.expire();
    this.#exact = new Map();
    const difference = await this.#act(step);
    if (difference !== undefined) return difference;
    await this.#stored.read();
    return this.#stored.differenceToModel() ?? this.#differenceToExact();
  }

  get #nowTicks(): number {
    return this.#store.clockMicros * TICKS_PER_MICRO;
  }

  #move({ move, by }: SceneStep): void {
    const micros = this.#time.nowMicros();
    const fillMicros = Math.min(this.#numbers[0].fitTicks, 1e11) / TICKS_PER_MICRO;
    const expiries = this.#stored.expiriesMicros;
    const expiryMicros = (expiries[Math.floor(by * expiries.length)] ?? 0) - this.#store.clockMicros + micros;
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

  async #act({ action }: SceneStep): Promise<string | undefined> {
    if (action.kind === 'sync') return this.#sync(action);
    if (action.kind === 'repeat') return this.#repeat(action.process, action.ago);
    if (action.kind === 'strict') return this.#strict.run(action);
    if (action.kind === 'delete') await this.#stored.delete([action.key]);
    else if (action.kind === 'flush') await this.#stored.delete();
    else if (action.kind === 'save') this.#stored.save();
    else await this.#stored.restore();
    return undefined;
  }

  async #sync(step: SceneSync): Promise<string | undefined> {
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
    return this.#compareSync(step.process, call);
  }

  async #repeat(process: number, ago: number): Promise<string | undefined> {
    const call = this.#calls[process]!.at(-1 - ago);
    return call && this.#compareSync(process, call);
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

  async #compareSync(process: number, call: SyncCall): Promise<string | undefined> {
    // A call may write until this moment.
    const [done, ...rest] = await this.#run(call, this.#nowTicks);
    const reply = decodeSync(call, rest);
    this.#answered[process] = Math.max(this.#answered[process]!, call.sequence);
    for (const [i, { key }] of call.entries.entries()) {
      this.#floors.set(`${process} ${this.#keys.indexOf(key)}`, reply.nowTicks + reply.buckets[i]!.levelTicks);
    }
    const exact = this.#exactReply(call);
    this.#note(call, reply);
    return (
      differenceOf('the reply', { done, ...reply }, { done: 1, ...this.#model.sync(call) }) ??
      differenceOf('the exact reply', exactOf(reply), exact)
    );
  }

  #exactReply({ stream, sequence, answeredSequence, latestTicks, entries }: SyncCall): unknown {
    const value = this.#stored.sequence(stream);
    const stored = Math.abs(value);
    const [fresh, lost] = [sequence > stored, stored < answeredSequence];
    const state = { now: BigInt(this.#nowTicks), fresh, lost, inTime: this.#nowTicks <= latestTicks };
    this.#exact = new Map(entries.map((entry) => [entry.key, exactSync(this.#stored.bucket(entry.key), entry, state)]));
    const answers = [...this.#exact.values()];
    const buckets = answers.map(({ level, keptFloor, granted }) => ({ level, keptFloor, granted }));
    return { fresh, lost: lost || value === -sequence, buckets };
  }

  #differenceToExact(): string | undefined {
    const stored = [...this.#exact.keys()].map((key) => this.#stored.bucket(key));
    const exact = [...this.#exact.values()].map(({ after }) => after);
    return differenceOf('stored, by the definition', stored, exact);
  }

  #note({ entries }: SyncCall, { fresh, lost, buckets }: SyncReply): void {
    const counts = this.#counts;
    counts.batches++;
    counts.keys += entries.length;
    if (!fresh) counts.duplicates++;
    if (lost) counts.losses++;
    counts.granted += buckets.filter(({ grantedTokens }) => grantedTokens > 0).length;
    counts.lowered += buckets.filter(({ keptFloor }) => !keptFloor).length;
    counts.repaired += [...this.#exact.values()].filter(({ isRepaired }) => isRepaired).length;
  }

  #run(call: SyncCall, expiryTicks: number): Promise<unknown[]> {
    return runSteered(this.#server, this.#source, this.#store.clockMicros, { ...encodeSync(call), expiryTicks });
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
