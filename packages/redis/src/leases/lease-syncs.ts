import type { Time } from '@sluice/core';
import { TICKS_PER_MICRO, TICKS_PER_MS, type Alarm, type StoreSync } from '@sluice/core/store';
import { isMovingSlot } from '../client/server-errors.ts';
import type { LeaseDecision, LeaseTransaction } from './rules/decide.ts';
import type { LeasedBuckets } from './rules/leased-buckets.ts';
import type { LeaseStream } from './rules/lease-stream.ts';
import type { SyncCall, SyncReply } from './rules/sync-call.ts';
import { WaitingBatches, type WaitingBatch } from './rules/waiting-batches.ts';
import type { GatewayCount } from './gateway-count.ts';
import { leaseChannel, leaseMessage, type EndedSync } from './lease-channel.ts';

/** Default of `syncEvery`. */
export const SYNC_EVERY_MS = 200;
/** Default of `maxWait`. */
export const MAX_WAIT_MS = 50;
/** The largest jitter, as a part of the time between syncs, so that processes do not sync in step. */
const MAX_JITTER = 1 / 8;
/** A sync that is not answered by then has failed. Redis does not apply it later. */
const SYNC_DEADLINE_MS = 200;
/** After so long, the next streams are served in another turn of the event loop. */
const SLICE_TICKS = 2 * TICKS_PER_MS;
/** How many buckets each turn with syncs looks at, to drop those at rest. */
const SWEPT_BUCKETS = 64;

/** Called with the outcome of a batch that has waited, and when it was decided. Other batches may have been decided since. */
export type Settle = (decision: LeaseDecision, decidedTicks: number) => void;

interface Waiting extends WaitingBatch {
  readonly settle: Settle;
}

/** A batch that can only be decided after a sync. */
export interface BatchToWait {
  readonly batch: readonly LeaseTransaction[];
  /** When that was found out. */
  readonly nowTicks: number;
  readonly maxWaitTicks: number;
}

export interface LeaseSyncsParts {
  /** Sends a sync to Redis, which must not apply it after `deadlineMs`. */
  readonly send: (call: SyncCall, deadlineMs: number) => Promise<SyncReply>;
  readonly buckets: LeasedBuckets;
  readonly time: Time;
  readonly gateways: Pick<GatewayCount, 'synced' | 'close'>;
  /** Called when the first stream gets no answers any more, with its error, and when all streams are answered again. */
  readonly onChange: (cause: unknown) => void;
}

/** Sends the syncs of leases when they are due, and ends the waits of requests. */
export class LeaseSyncs {
  readonly #parts: LeaseSyncsParts;
  readonly #waiting = new WaitingBatches<Waiting>();
  /** Called with each sync that has ended. They must not throw. */
  readonly listeners: Set<(sync: StoreSync) => void> = new Set<(sync: StoreSync) => void>();
  readonly #inFlight = new Map<LeaseStream, Promise<void>>();
  #alarm: Alarm | undefined;
  #alarmTicks = Infinity;
  #isTurnScheduled = false;
  #openStreams = 0;
  #waits = 0;
  #isClosing = false;

  constructor(parts: LeaseSyncsParts) {
    this.#parts = parts;
  }

  /** The clock of the process, by which leases are spent. */
  get nowTicks(): number {
    return this.#parts.time.nowMicros() * TICKS_PER_MICRO;
  }

  /** How many batches have waited for a sync. */
  get waits(): number {
    return this.#waits;
  }

  /** Sees to the syncs that a decision has asked for. */
  afterUse(batch: readonly Pick<LeaseTransaction, 'bucket'>[], nowTicks: number): void {
    for (let i = 0; i < batch.length; i++) {
      const { nextTicks } = batch[i]!.bucket.stream;
      if (nextTicks < this.#alarmTicks) this.#runAt(nextTicks, nowTicks);
    }
  }

  /** Decides a batch after a sync of the buckets that it waits for, or when its time is over. */
  wait({ batch, nowTicks, maxWaitTicks }: BatchToWait, settle: Settle): void {
    const untilTicks = nowTicks + maxWaitTicks;
    this.#waits++;
    this.#waiting.add({ batch, untilTicks, settle }, nowTicks);
    if (untilTicks < this.#alarmTicks) this.#runAt(untilTicks, nowTicks);
    this.afterUse(batch, nowTicks);
  }

  /** Ends all waits, reports what was let through, and gives leases back. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#alarm?.cancel();
    const { nowTicks } = this;
    for (const { waiting, decision } of this.#waiting.endAll(nowTicks)) waiting.settle(decision, nowTicks);
    const { buckets, gateways } = this.#parts;
    await Promise.all([...buckets.streams.map((stream) => this.#finish(stream)), gateways.close()]);
  }

  async #finish(stream: LeaseStream): Promise<void> {
    await this.#inFlight.get(stream);
    stream.requestLast(this.nowTicks);
    while (stream.nextTicks <= this.nowTicks) {
      const call = stream.nextCall(this.nowTicks);
      // oxlint-disable-next-line no-await-in-loop -- one call at a time
      if (call !== undefined) await this.#send(stream, call);
    }
  }

  #runAt(ticks: number, nowTicks: number): void {
    if (this.#isClosing) return;
    const delayTicks = ticks - nowTicks;
    if (delayTicks <= 0) return this.#runAfterTurn();
    if (ticks >= this.#alarmTicks) return;
    this.#alarm?.cancel();
    this.#alarmTicks = ticks;
    this.#alarm = this.#parts.time.alarm(delayTicks / TICKS_PER_MS, this.#onAlarm);
    this.#alarm.unref();
  }

  /** Requests that arrive together ask for their tokens together. */
  #runAfterTurn(): void {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    this.#parts.time.endOfTurn(this.#onTurn);
  }

  readonly #onAlarm = (): void => {
    this.#alarm = undefined;
    this.#alarmTicks = Infinity;
    this.#run();
  };

  readonly #onTurn = (): void => {
    this.#isTurnScheduled = false;
    this.#run();
  };

  #run(): void {
    if (this.#isClosing) return;
    const { buckets } = this.#parts;
    const startTicks = this.nowTicks;
    for (const stream of buckets.streams) {
      const { nowTicks } = this;
      if (nowTicks - startTicks > SLICE_TICKS) break;
      if (stream.nextTicks > nowTicks) continue;
      const call = stream.nextCall(nowTicks);
      if (call !== undefined) void this.#send(stream, call);
    }
    buckets.sweep(SWEPT_BUCKETS, this.nowTicks);
    this.#afterSyncs();
  }

  #send(stream: LeaseStream, call: SyncCall): Promise<void> {
    const sentTicks = this.nowTicks;
    const sent = this.#parts.send(call, SYNC_DEADLINE_MS).then(
      (reply) => {
        const wasOpen = stream.isOpen;
        const { nowTicks } = this;
        this.#inFlight.delete(stream);
        stream.answered(call, reply, nowTicks);
        this.#report({ call, reply }, nowTicks - sentTicks);
        if (!this.#isClosing) this.#parts.gateways.synced(nowTicks);
        this.#noteChange(stream, wasOpen, undefined);
        this.#afterSyncs();
      },
      (cause: unknown) => {
        const wasOpen = stream.isOpen;
        this.#inFlight.delete(stream);
        const { nowTicks } = this;
        if (isMovingSlot(cause)) stream.moving(call, nowTicks);
        else stream.failed(call, nowTicks);
        this.#report({ call, cause }, nowTicks - sentTicks);
        this.#noteChange(stream, wasOpen, cause);
        this.#afterSyncs();
      },
    );
    this.#inFlight.set(stream, sent);
    return sent;
  }

  #report(sync: Omit<EndedSync, 'durationMs'>, tookTicks: number): void {
    if (this.listeners.size === 0 && !leaseChannel.hasSubscribers) return;
    const message = leaseMessage({ ...sync, durationMs: tookTicks / TICKS_PER_MS });
    for (const listener of this.listeners) listener(message);
    leaseChannel.publish(message);
  }

  #noteChange({ isOpen }: LeaseStream, wasOpen: boolean, cause: unknown): void {
    if (isOpen === wasOpen) return;
    this.#openStreams += isOpen ? 1 : -1;
    if (this.#openStreams === (isOpen ? 1 : 0)) this.#parts.onChange(isOpen ? cause : undefined);
  }

  /** Decides the requests that waited, and sets the time of the next syncs. */
  #afterSyncs(): void {
    if (this.#isClosing) return;
    const { nowTicks } = this;
    this.#endWaits(nowTicks);
    let next = this.#waiting.untilTicks;
    for (const { nextTicks } of this.#parts.buckets.streams) if (nextTicks < next) next = nextTicks;
    this.#runAt(next, nowTicks);
  }

  #endWaits(nowTicks: number): void {
    if (this.#waiting.size === 0) return;
    for (const { waiting, decision } of this.#waiting.decideAgain(nowTicks)) waiting.settle(decision, nowTicks);
  }
}

/**
 * Returns the factor by which a process multiplies the time between syncs.
 *
 * @param random - From 0 to 1, different in each process.
 */
export function paceOf(random: number): number {
  return 1 - MAX_JITTER * random;
}
