import type { ReadyOptions, Time } from '@sluice/core';
import {
  afterInput,
  CallDeadlines,
  CallQueue,
  checkDeadline,
  checkReadyOptions,
  RUN_INTO,
  type AnswerSink,
  type EventSink,
  type RunInto,
} from '@sluice/core/kit';
import {
  otherNumbers,
  storeBlocks,
  storeGuard,
  type BlocksText,
  type StoreBlocks,
  type StoreBucket,
  type StoreOperation,
  type StoreReading,
  type StoreReport,
} from '@sluice/core/store';
import { HostCall } from './asking/host-call.ts';
import {
  Membership,
  type MembershipListener,
  type MembershipParts,
  type ServedBuckets,
} from './election/membership.ts';
import { HostErrors } from './errors.ts';
import {
  clientRejected,
  handoverFailed,
  roleChanged,
  stateLost,
  type HostRole,
  type HostStoreEvent,
} from './events.ts';
import type { HostStore, HostStoreStatus } from './store.ts';
import type { HostReading } from './wire/answer-codec.ts';
import type { HostOperation } from './wire/operation-codec.ts';

/** So many calls are sent without waiting for the end of the turn, so that the other process decides them meanwhile. */
const EARLY_CALLS = 32;

/** The deadline of calls without one. Limiters always pass theirs. */
const DEFAULT_DEADLINE_MS = 1000;

export interface JoinedStoreParts extends Omit<MembershipParts, 'listener'> {
  readonly socket: string;
  readonly blocksText: BlocksText;
  readonly time: Time;
  readonly emit: EventSink<HostStoreEvent>;
  readonly emitUnlogged: EventSink<HostStoreEvent>;
}

/** The host store: executes operations if this process serves, and otherwise sends them to the process that does. */
export class JoinedStore implements HostStore {
  readonly name = 'host';
  readonly traits = { keepsDeadline: true, periods: true, slots: true } as const;
  readonly guard: object = storeGuard;
  readonly otherNumbers: typeof otherNumbers = otherNumbers;
  readonly blocks: StoreBlocks;
  readonly #parts: JoinedStoreParts;
  readonly #errors: HostErrors;
  readonly #deadlines: CallDeadlines;
  readonly #queue = new CallQueue<HostCall>();
  readonly #membership: Membership;
  readonly #listeners = new Set<(report: StoreReport) => void>();
  #role: HostRole = 'joining';
  #since: Date;
  #lastError: HostStoreStatus['lastError'];
  /** The buckets in use, or the last ones. */
  #served: ServedBuckets | undefined;
  #isFlushing = false;
  #closed: Promise<void> | undefined;
  /** Resolves when this process serves or asks. Made by the first caller of `ready`. */
  #joined: Promise<void> | undefined;
  #resolveJoined = (): void => {};

  constructor(parts: JoinedStoreParts) {
    this.#parts = parts;
    this.#errors = new HostErrors(parts.socket);
    this.#deadlines = new CallDeadlines(parts.time);
    this.#since = this.#now();
    this.#membership = new Membership({ ...parts, listener: this.#listener });
    this.blocks = storeBlocks(this.#openText(parts.blocksText), parts.time);
  }

  run(operation: StoreOperation, deadlineMs: number = DEFAULT_DEADLINE_MS): Promise<StoreReading> {
    return new Promise((answered, failed) => this.#runInto(operation, deadlineMs, { answered, failed }));
  }

  static {
    (this.prototype.run as { [RUN_INTO]?: RunInto })[RUN_INTO] = (store, operation, deadlineMs, sink) => {
      (store as JoinedStore).#runInto(operation, deadlineMs, sink);
    };
  }

  holders(
    batch: readonly StoreBucket[],
    deadlineMs: number = DEFAULT_DEADLINE_MS,
  ): Promise<readonly (readonly string[])[]> {
    return new Promise((resolve, failed) => {
      const answered = ({ holders }: HostReading): void => resolve(holders!);
      this.#runInto({ kind: 'holders', batch }, deadlineMs, { answered, failed });
    });
  }

  async ready(options?: ReadyOptions): Promise<void> {
    const { timeoutMs } = checkReadyOptions(options);
    this.#assertOpen();
    if (this.#role === 'serving' || this.#role === 'asking') return;
    this.#joined ??= new Promise((resolve) => (this.#resolveJoined = resolve));
    await this.#deadlines
      .of(timeoutMs)
      .race(this.#joined, () =>
        this.#role === 'closed' ? this.#errors.closed() : this.#errors.notReady(timeoutMs, this.#lastError?.cause),
      );
  }

  watch(listener: (report: StoreReport) => void): () => void {
    this.#assertOpen();
    // A function of its own, because the same listener may be registered twice.
    const own = (report: StoreReport): void => listener(report);
    this.#listeners.add(own);
    if (this.#role === 'down') own({ type: 'down', cause: this.#downError() });
    return () => void this.#listeners.delete(own);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #close(): Promise<void> {
    this.#flush();
    this.#setRole('closed');
    const closed = this.#membership.close();
    this.#deadlines.expireAll();
    this.#listeners.clear();
    return closed;
  }

  status(): HostStoreStatus {
    return {
      role: this.#role,
      since: this.#since,
      serverPid: this.#served?.pid,
      clients: this.#membership.clientCount,
      lastError: this.#lastError,
    };
  }

  #runInto(operation: HostOperation, deadlineMs: number, sink: AnswerSink): void {
    let reading: HostReading | undefined;
    try {
      this.#assertOpen();
      checkDeadline(deadlineMs);
      if (this.#role === 'down') throw this.#downError();
      reading = this.#membership.buckets?.run(operation);
    } catch (error) {
      return sink.failed(error);
    }
    if (reading === undefined) this.#ask(operation, deadlineMs, sink);
    else sink.answered(reading);
  }

  #ask(operation: HostOperation, deadlineMs: number, sink: AnswerSink): void {
    const deadlines = this.#deadlines.of(deadlineMs);
    this.#queue.add(new HostCall({ operation, deadlineMs, deadlines, sink, onMiss: this.#missed }));
    if (this.#role !== 'asking') return;
    if (this.#queue.size >= EARLY_CALLS) this.#membership.connection?.send(this.#queue);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    // Directly after Node has read its sockets and run their callbacks: requests that arrive together are
    // sent together. It is not `time.endOfTurn`: calls reach another process even while the time of a test does not move.
    afterInput(this.#flush);
  }

  readonly #flush = (): void => {
    this.#isFlushing = false;
    this.#membership.connection?.send(this.#queue);
  };

  readonly #missed = ({ deadlineMs }: HostCall): unknown =>
    this.#role === 'closed'
      ? this.#errors.closedWhileWaiting()
      : this.#errors.missed(deadlineMs, this.#role === 'asking' ? this.#served?.pid : undefined);

  // It is made before the membership, which calls it.
  readonly #listener: MembershipListener = {
    onServing: (served, buckets) => {
      buckets.watch((report) => this.#report(report));
      this.#noteServed(served, 'serving');
      for (let call = this.#queue.take(); call !== undefined; call = this.#queue.take()) {
        this.#runInto(call.operation, call.deadlineMs, {
          answered: (reading) => call.answer(reading),
          failed: (error) => call.fail(error),
        });
      }
    },
    onAsking: (served) => {
      this.#noteServed(served, 'asking');
      this.#flush();
    },
    onJoining: (unanswered) => {
      this.#queue.addFirst(unanswered);
      // Until an attempt succeeds, it remains down.
      if (this.#role !== 'down') this.#setRole('joining');
    },
    onDown: (cause, unanswered) => {
      const wasDown = this.#role === 'down';
      this.#lastError = { cause, at: this.#now() };
      this.#setRole('down', cause);
      this.#queue.addFirst(unanswered);
      const error = this.#downError();
      for (let call = this.#queue.take(); call !== undefined; call = this.#queue.take()) call.fail(error);
      if (!wasDown) this.#report({ type: 'down', cause: error });
    },
    onDrain: () => this.#flush(),
    onRejected: (cause) => this.#parts.emit(clientRejected(this.#parts.socket, cause)),
    onHandoverFailed: (cause) => this.#parts.emit(handoverFailed(this.#parts.socket, cause)),
  };

  #noteServed(served: ServedBuckets, role: 'serving' | 'asking'): void {
    const last = this.#served;
    this.#served = served;
    this.#setRole(role);
    this.#resolveJoined();
    this.#joined = undefined;
    if (last !== undefined && last.id !== served.id) this.#parts.emit(stateLost(this.#parts.socket, last.pid));
    // What was sent to another server is decided by this one. It may have taken effect if only the connection was lost.
    for (const call of this.#queue) if (isOf(call.sentTo, served)) call.fail(this.#errors.connectionLost());
    this.#report({ type: 'up' });
  }

  #setRole(role: HostRole, cause?: unknown): void {
    if (role === this.#role) return;
    this.#role = role;
    this.#since = this.#now();
    this.#parts.emitUnlogged(roleChanged(this.#parts.socket, { role, serverPid: this.#served?.pid, cause }));
  }

  #openText(text: BlocksText): BlocksText {
    const open = (): BlocksText => {
      this.#assertOpen();
      return text;
    };
    return { read: async (...args) => open().read(...args), write: async (...args) => open().write(...args) };
  }

  #report(report: StoreReport): void {
    for (const listener of this.#listeners) listener(report);
  }

  #downError(): unknown {
    return this.#errors.down(this.#lastError?.cause);
  }

  #assertOpen(): void {
    if (this.#role === 'closed') throw this.#errors.closed();
  }

  #now(): Date {
    return new Date(this.#parts.time.wallNow());
  }
}

function isOf(sentTo: ServedBuckets | undefined, { id, turn }: ServedBuckets): boolean {
  return sentTo !== undefined && sentTo.id === id && sentTo.turn === turn;
}
