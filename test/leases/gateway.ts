import {
  decide,
  isExact,
  refundAll,
  type LeaseDecision,
  type LeaseTransaction,
} from '../../packages/redis/src/leases/rules/decide.ts';
import type { LeasedBucket, LeaseTerms } from '../../packages/redis/src/leases/rules/leased-bucket.ts';
import { LeasedBuckets } from '../../packages/redis/src/leases/rules/leased-buckets.ts';
import type { LeaseStream } from '../../packages/redis/src/leases/rules/lease-stream.ts';
import { Spent } from '../../packages/redis/src/leases/rules/lease.ts';
import type { SyncCall } from '../../packages/redis/src/leases/rules/sync-call.ts';
import { WaitingBatches, type WaitingBatch } from '../../packages/redis/src/leases/rules/waiting-batches.ts';
import type { SimulatedNetwork } from './network.ts';

const TICKS_PER_MS = 16_000;
const CALL_DEADLINE_TICKS = 50 * TICKS_PER_MS;
const MAX_WAIT_TICKS = 50 * TICKS_PER_MS;

/** A request as a scene makes it: some of the keys, a cost for each, and a mode for each. */
export interface Request {
  readonly keys: readonly string[];
  readonly tokens: readonly number[];
  readonly modes: readonly LeaseTransaction['mode'][];
}

/** What a gateway reports. */
export interface GatewayReports {
  /** A batch was decided. */
  decided(gateway: Gateway, batch: readonly LeaseTransaction[], decision: LeaseDecision, waitedTicks: number): void;
  /** Tokens of a decision, or of a process, are given back. */
  gaveBack(key: string, ticks: number): void;
  /** Redis has decided a part of a batch. */
  exact?(): void;
}

interface Waiting extends WaitingBatch {
  readonly decided: Decided;
}

/** Called when one request was decided. */
export type Decided = (decision: LeaseDecision) => void;

/** One process with leases: the code under test, on a virtual clock and a simulated network. */
export class Gateway {
  readonly buckets: LeasedBuckets;
  readonly #waiting = new WaitingBatches<Waiting>();
  readonly #network: SimulatedNetwork;
  readonly #reports: GatewayReports;
  readonly #terms: (key: string) => LeaseTerms;
  /** Its clock minus the true time. */
  readonly #clockAheadTicks: number;
  readonly #callDeadlineTicks: number;
  #stalledUntilTicks = 0;
  #isDead = false;
  #alarmTicks = Infinity;

  constructor(options: {
    readonly name: string;
    readonly network: SimulatedNetwork;
    readonly reports: GatewayReports;
    readonly terms: (key: string) => LeaseTerms;
    readonly syncTicks: number;
    readonly pace: number;
    readonly clockAheadTicks: number;
    readonly maxKeys: number;
    /** A sync that is not answered by then has failed. */
    readonly callDeadlineTicks?: number;
  }) {
    this.#network = options.network;
    this.#reports = options.reports;
    this.#terms = options.terms;
    this.#clockAheadTicks = options.clockAheadTicks;
    this.#callDeadlineTicks = options.callDeadlineTicks ?? CALL_DEADLINE_TICKS;
    this.buckets = new LeasedBuckets({
      maxKeys: options.maxKeys,
      syncTicks: options.syncTicks,
      pace: options.pace,
      streamKey: (tag) => `seq:${options.name}${tag}`,
    });
  }

  get nowTicks(): number {
    return this.#network.nowTicks + this.#clockAheadTicks;
  }

  request(request: Request, decided?: Decided): void {
    this.#run(() => {
      const { nowTicks } = this;
      const batch: LeaseTransaction[] = [];
      for (const [i, key] of request.keys.entries()) {
        const bucket = this.bucket(key);
        if (bucket === undefined) return;
        batch.push({
          bucket,
          tokens: request.tokens[i]!,
          mode: request.modes[i]!,
          spent: undefined,
          waitTicks: 0,
          levelTicks: 0,
        });
      }
      this.#decide({
        batch,
        untilTicks: nowTicks + MAX_WAIT_TICKS,
        decided: (decision) => {
          this.#reports.decided(this, batch, decision, this.nowTicks - nowTicks);
          decided?.(decision);
        },
      });
    });
  }

  #decide(request: Waiting): void {
    const decision = decide(request.batch, this.nowTicks);
    if (decision.outcome === 'waits') this.#waiting.add(request, this.nowTicks);
    else this.#end(request, decision);
  }

  #end(request: Waiting, decision: LeaseDecision): void {
    if (decision.outcome === 'exact') this.#decidePartly(request);
    else request.decided(decision);
  }

  /** As the store does it: the process decides what it can, then Redis decides the rest. */
  #decidePartly(request: Waiting): void {
    const { nowTicks } = this;
    const exact = request.batch.filter((each) => isExact(each, nowTicks));
    const leased = request.batch.filter((each) => !exact.includes(each));
    for (const { bucket } of exact) bucket.touch(nowTicks);
    this.#decide({
      ...request,
      batch: leased,
      decided: (decision) => {
        if (decision.outcome === 'passed') this.#spendInRedis(exact, leased, request.decided);
        else request.decided(decision);
      },
    });
  }

  #spendInRedis(
    exact: readonly LeaseTransaction[],
    leased: readonly LeaseTransaction[],
    decided: Waiting['decided'],
  ): void {
    const batch = exact.map(({ bucket, tokens, mode }) => {
      const { intervalTicks, fitTicks, capTicks } = bucket.terms;
      return { key: bucket.key, incrementTicks: tokens * intervalTicks, fitTicks, capTicks, mode };
    });
    const late = Math.max(...exact.map(({ bucket }) => bucket.unreportedTicks));
    this.#network.spend(batch, (levels) => {
      this.#reports.exact?.();
      const fits = batch.map(({ incrementTicks, fitTicks }, i) => levels[i]! + incrementTicks <= fitTicks);
      if (batch.every(({ mode }, i) => fits[i]! || mode === 'spend-only')) {
        for (const [i, each] of exact.entries()) if (fits[i]) each.spent = new Spent();
        return decided({ outcome: 'passed', retryTicks: 0 });
      }
      this.#run(() => refundAll(leased, this.nowTicks));
      decided({ outcome: 'denied', retryTicks: longestWait(batch, levels) + late });
    });
  }

  refund(batch: readonly LeaseTransaction[]): void {
    this.#run(() => {
      for (const { bucket, spent } of batch) {
        for (let part = spent; part !== undefined; part = part.older) {
          this.#reports.gaveBack(bucket.key, part.leaseTokens * bucket.terms.intervalTicks);
        }
      }
      refundAll(batch, this.nowTicks);
    });
  }

  /** Resets a bucket in Redis, by the script of all processes. */
  reset(key: string): void {
    this.#run(() => {
      const sentTicks = this.nowTicks;
      this.#network.roundTrip(
        () => this.#network.reset(key),
        () => {
          this.#run(() => {
            const bucket = this.bucket(key);
            if (bucket === undefined) return;
            this.#reports.gaveBack(key, bucket.uncharged.chargeTicks);
            bucket.reset(this.nowTicks, sentTicks);
          });
        },
      );
    });
  }

  /** Refunds tokens in Redis, by the script of all processes. */
  refundInRedis(key: string, ticks: number): void {
    this.#run(() => {
      this.#network.roundTrip(
        () => this.#network.refund(key, ticks),
        () => this.#run(() => this.bucket(key)?.lowered(this.nowTicks)),
      );
    });
  }

  /** Applies the numbers that its `terms` return now. */
  changeTerms(): void {
    this.#run(() => {
      for (const stream of this.buckets.streams) {
        for (const bucket of stream.buckets) bucket.setTerms(this.#terms(bucket.key), this.nowTicks);
      }
    });
  }

  /** Runs nothing for a while. What happens meanwhile is noticed afterwards. */
  stall(ticks: number): void {
    this.#stalledUntilTicks = this.#network.nowTicks + ticks;
  }

  /** Ends the process. What it let through and has not reported is lost. */
  crash(): void {
    this.#isDead = true;
  }

  bucket(key: string): LeasedBucket | undefined {
    const name = { limit: 'Calls', id: key };
    const bucket =
      this.buckets.find(name) ?? this.buckets.add({ ...name, key, tag: '' }, this.#terms(key), this.nowTicks);
    if (bucket !== undefined) bucket.usedAtTicks = this.nowTicks;
    return bucket;
  }

  /** Runs something in the process, later if it stalls, and then what is due. */
  #run(what: () => void): void {
    if (this.#isDead) return;
    if (this.#network.nowTicks < this.#stalledUntilTicks) {
      this.#network.at(this.#stalledUntilTicks, () => this.#run(what));
      return;
    }
    what();
    this.buckets.sweep(1, this.nowTicks);
    this.#sync();
    this.#setAlarm();
  }

  #sync(): void {
    const { nowTicks } = this;
    this.#endWaits();
    for (const stream of this.buckets.streams) {
      if (stream.nextTicks <= nowTicks) this.#send(stream);
    }
  }

  #endWaits(): void {
    for (const { waiting, decision } of this.#waiting.decideAgain(this.nowTicks)) this.#end(waiting, decision);
  }

  #send(stream: LeaseStream): void {
    const refunds = new Map(stream.buckets.map(({ key, uncharged }) => [key, uncharged.returnTicks]));
    const call = stream.nextCall(this.nowTicks);
    if (call === undefined) return;
    this.#network.sync(call, {
      refunds: refundsIn(call, refunds),
      answered: (reply) => this.#run(() => stream.answered(call, reply, this.nowTicks)),
      rejected: () => this.#run(() => stream.moving(call, this.nowTicks)),
    });
    const deadline = this.#network.nowTicks + this.#callDeadlineTicks;
    this.#network.at(deadline, () => this.#run(() => stream.failed(call, this.nowTicks)));
  }

  #setAlarm(): void {
    const next = Math.min(this.#waiting.untilTicks, ...this.buckets.streams.map(({ nextTicks }) => nextTicks));
    const ticks = Math.max(next - this.#clockAheadTicks, this.#network.nowTicks);
    if (ticks === Infinity || (ticks >= this.#alarmTicks && this.#alarmTicks > this.#network.nowTicks)) return;
    this.#alarmTicks = ticks;
    this.#network.at(ticks, () => {
      if (this.#alarmTicks === ticks) this.#alarmTicks = Infinity;
      this.#run(() => undefined);
    });
  }
}

/** The refunds of decisions that a call gives back, by key. The rest of what it gives back is of leases. */
function refundsIn(call: SyncCall, refunds: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map(
    call.entries.map(({ key, returnTicks }) => [key, Math.min(returnTicks, refunds.get(key) ?? 0)] as const),
  );
}

function longestWait(
  batch: readonly { readonly incrementTicks: number; readonly fitTicks: number }[],
  levels: readonly number[],
): number {
  return Math.max(...batch.map(({ incrementTicks, fitTicks }, i) => levels[i]! + incrementTicks - fitTicks));
}
