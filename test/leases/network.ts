import type { SyncCall, SyncReply } from '../../packages/redis/src/leases/rules/sync-call.ts';
import { EventQueue } from './event-queue.ts';
import type { Random } from './random.ts';
import { RedisModel, type ModelTransaction, type Snapshot } from './redis-model.ts';

const TICKS_PER_MS = 16_000;
/** The clock of Redis at the start: most of a year after its origin. */
const SERVER_START_TICKS = 28e6 * 1000 * TICKS_PER_MS;

/** How late and how reliable the network is. */
export interface NetworkQuality {
  /** The longest delay of a message, one way. */
  readonly delayTicks: number;
  /** The shortest one. Default: 1 µs. */
  readonly leastDelayTicks?: number;
  /** Some messages take this much longer: they come in volleys. */
  readonly lateTicks: number;
  readonly lateShare: number;
  readonly lostShare: number;
}

interface SyncOptions {
  /** The refunds of decisions in the call, by key. */
  readonly refunds: ReadonlyMap<string, number>;
  readonly answered: (reply: SyncReply) => void;
  /** Redis has rejected the call, because its keys are on two nodes. Needed where slots move. */
  readonly rejected?: () => void;
}

/** Redis, the true time, and the messages between Redis and the gateways. */
export class SimulatedNetwork {
  readonly redis: RedisModel;
  readonly #events = new EventQueue();
  readonly #random: Random;
  readonly #quality: NetworkQuality;
  readonly #gaveBack: (key: string, ticks: number) => void;
  /** Between these times nobody reaches Redis. */
  #cutFromTicks = Infinity;
  #cutUntilTicks = -Infinity;
  /** Until then the slot of all keys is moved. */
  #movingUntilTicks = -Infinity;
  /** How many syncs Redis got. */
  syncs = 0;
  #snapshot: Snapshot | undefined;

  constructor(random: Random, quality: NetworkQuality, gaveBack: (key: string, ticks: number) => void) {
    this.#random = random;
    this.#quality = quality;
    this.#gaveBack = gaveBack;
    this.redis = new RedisModel(() => SERVER_START_TICKS + this.nowTicks);
  }

  /** The true time. */
  get nowTicks(): number {
    return this.#events.nowTicks;
  }

  at(ticks: number, run: () => void): void {
    this.#events.at(ticks, run);
  }

  runUntil(ticks: number): void {
    this.#events.runUntil(ticks);
  }

  cut(ticks: number): void {
    this.#cutFromTicks = this.nowTicks;
    this.#cutUntilTicks = this.nowTicks + ticks;
  }

  /** Moves the slot of all keys to another node. Most syncs have keys on both nodes; each key alone can be used. */
  moveSlot(ticks: number): void {
    this.#movingUntilTicks = this.nowTicks + ticks;
  }

  /** Sends a sync. Both the call and its answer can be late or get lost. */
  sync(call: SyncCall, { refunds, answered, rejected }: SyncOptions): void {
    const inRedis = (): SyncReply | undefined => {
      if (this.nowTicks < this.#movingUntilTicks && this.#random.chance(0.9)) return undefined;
      this.syncs++;
      const levels = new Map(call.entries.map(({ key }) => [key, this.levelTicks(key)]));
      const reply = this.redis.sync(call);
      if (reply.fresh && reply.nowTicks <= call.latestTicks) this.#countRefunds(call, reply, { refunds, levels });
      return reply;
    };
    this.roundTrip(inRedis, (reply) => (reply === undefined ? rejected?.() : answered(reply)));
  }

  spend(batch: readonly ModelTransaction[], answered: (levels: readonly number[]) => void): void {
    if (this.#isLost()) return;
    this.at(this.nowTicks + this.#delay(), () => answered(this.redis.spend(batch)));
  }

  /** Does something in Redis, and something else with its answer. */
  roundTrip<T>(inRedis: () => T, answered: (reply: T) => void): void {
    if (this.#isLost()) return;
    this.at(this.nowTicks + this.#delay(), () => {
      const reply = inRedis();
      if (this.#isLost()) return;
      this.at(this.nowTicks + this.#delay(), () => answered(reply));
    });
  }

  reset(key: string): void {
    this.#gaveBack(key, this.levelTicks(key));
    this.redis.reset(key);
  }

  refund(key: string, incrementTicks: number): void {
    const before = this.levelTicks(key);
    this.redis.refund({ key, incrementTicks, capTicks: Number.MAX_SAFE_INTEGER });
    this.#gaveBack(key, before - this.levelTicks(key));
  }

  flushAll(keys: readonly string[]): void {
    this.#losing(keys, () => this.redis.flushAll());
  }

  takeSnapshot(): void {
    this.#snapshot = this.redis.snapshot();
  }

  /** A replica takes over that has the data of the last snapshot. */
  failOver(keys: readonly string[]): void {
    const snapshot = this.#snapshot;
    if (snapshot !== undefined) this.#losing(keys, () => this.redis.restore(snapshot));
  }

  levelTicks(key: string): number {
    return Math.max(0, (this.redis.bucket(key)?.tatTicks ?? 0) - SERVER_START_TICKS - this.nowTicks);
  }

  /** What Redis loses counts as given back. */
  #losing(keys: readonly string[], lose: () => void): void {
    const before = keys.map((key) => this.levelTicks(key));
    lose();
    for (const [i, key] of keys.entries()) this.#gaveBack(key, before[i]! - this.levelTicks(key));
  }

  #countRefunds(
    call: SyncCall,
    reply: SyncReply,
    { refunds, levels }: { refunds: ReadonlyMap<string, number>; levels: ReadonlyMap<string, number> },
  ): void {
    for (const [i, entry] of call.entries.entries()) {
      const { levelTicks, keptFloor } = reply.buckets[i]!;
      const most = Math.max(levels.get(entry.key)! + entry.chargeTicks, entry.ownLevelTicks ?? 0, levelTicks);
      if (keptFloor) this.#gaveBack(entry.key, Math.min(refunds.get(entry.key) ?? 0, most));
    }
  }

  #isLost(): boolean {
    const isCut = this.nowTicks >= this.#cutFromTicks && this.nowTicks < this.#cutUntilTicks;
    return isCut || this.#random.chance(this.#quality.lostShare);
  }

  #delay(): number {
    const { delayTicks, leastDelayTicks = 16, lateTicks, lateShare } = this.#quality;
    const late = this.#random.chance(lateShare) ? this.#random.whole(0, lateTicks / 16) : 0;
    return 16 * (this.#random.whole(leastDelayTicks / 16, delayTicks / 16) + late);
  }
}
