import { SluiceError, type Alarm, type Time } from '@sluice/core';
import { ServerClock, TICKS_PER_MICRO, type CallQueue } from '@sluice/core/kit';
import { MAX_BUCKETS } from './calls/pieces.ts';
import { Program } from './calls/program.ts';
import type { StoreCall } from './calls/store-call.ts';
import { Preparation } from './schema/preparation.ts';
import type { Schema } from './schema/schema.ts';
import type { Names } from './schema/table-name.ts';
import { callError, isOfOneBatch, lacksSchema } from './server/server-errors.ts';
import type { Session } from './server/session.ts';
import { ReadyCalls, type ReadyCall } from './ready-calls.ts';
import { StoreState } from './store-state.ts';
import { Sweep } from './sweep.ts';

/** What a PostgreSQL store has done since it was created. */
export interface PostgresStoreCounts {
  /** Operations that were sent. */
  readonly batches: number;
  /** Statements by which they were sent. One may contain several operations. */
  readonly calls: number;
  /** Operations without an answer within their deadline. */
  readonly missed: number;
  /** Operations that PostgreSQL did not execute because their deadline had passed when it received them, or had their locks. */
  readonly expired: number;
  /** Connections that were closed because the server did not answer on them. */
  readonly resets: number;
  /** Buckets that were deleted by this process because they were full. */
  readonly swept: number;
}

export interface ExecutorParts {
  readonly queue: CallQueue<StoreCall>;
  readonly session: Session;
  readonly schema: Schema;
  readonly names: Names;
  readonly time: Time;
}

/** A connection on which no answer has come for so long after a deadline is closed, in milliseconds. */
const HANG_MS = 100;
/** The same while the tables are looked at or created. */
const PREPARE_MS = 5000;

/** Sends the calls of a queue, one statement at a time: those that have arrived meanwhile are the next one. */
export class Executor {
  readonly #parts: ExecutorParts;
  readonly state: StoreState;
  readonly #clock = new ServerClock();
  readonly #sweep: Sweep;
  readonly #preparation: Preparation;
  readonly #counts = { batches: 0, calls: 0, missed: 0, expired: 0 };
  #isBusy = false;
  /** Whether the next statement locks at once: not while batches are denied, which need no lock. */
  #locks = true;
  #hangAlarm: Alarm | undefined;
  readonly #readyCalls: ReadyCalls;

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    this.state = new StoreState(parts.time);
    this.#preparation = new Preparation(parts.schema, parts.time);
    this.#sweep = new Sweep(parts, () => this.wake());
    this.#readyCalls = new ReadyCalls(parts.time, () => this.wake());
  }

  get counts(): PostgresStoreCounts {
    return { ...this.#counts, resets: this.#parts.session.resets, swept: this.#sweep.swept };
  }

  get #isUp(): boolean {
    return this.#preparation.isDone && this.state.current === 'up';
  }

  /** Sends what is queued, if nothing is being executed. */
  wake(): void {
    if (this.#isBusy || this.state.current === 'closed') return;
    this.#isBusy = true;
    void this.#work();
  }

  /**
   * Calls back when PostgreSQL has answered and its tables are as they must be, or when they can't become so.
   *
   * @returns Ends the wait.
   */
  ready(call: ReadyCall): () => void {
    if (this.#isUp) {
      call.resolve();
      return () => undefined;
    }
    this.#readyCalls.add(call);
    this.#preparation.invalidate();
    this.wake();
    return () => this.#readyCalls.delete(call);
  }

  /** Creates the tables. */
  async migrate(): Promise<void> {
    try {
      // A client of its own: a statement that changes tables may wait for long.
      await this.#parts.schema.migrate(this.#parts.session.another());
    } catch (error) {
      throw callError(error);
    }
    this.#preparation.invalidate();
  }

  /** Takes note of a missed deadline, and returns its error. */
  noteMiss({ deadlineMs }: StoreCall): SluiceError {
    this.#counts.missed++;
    // While a connection is awaited, no statement can hang: that wait has a limit of its own.
    if (this.#parts.session.isExecuting) {
      const hangMs = this.#preparation.isDone ? HANG_MS : PREPARE_MS;
      this.#hangAlarm ??= this.#parts.time.alarm(hangMs, () => this.#closeHungConnection());
    }
    return new SluiceError('ERR_STORE_DEADLINE', `PostgreSQL did not answer within ${deadlineMs} ms.`);
  }

  async close(): Promise<void> {
    this.state.set('closed');
    this.#sweep.close();
    this.#cancelHangAlarm();
    const error = new SluiceError('ERR_CLOSED', 'The PostgreSQL store was closed.');
    this.#parts.session.abandon(error);
    this.#readyCalls.rejectAll(error);
    await this.#parts.session.close();
  }

  async #work(): Promise<void> {
    try {
      while (this.state.current !== 'closed' && this.#hasWork()) {
        // oxlint-disable-next-line no-await-in-loop -- one statement at a time
        await this.#step();
        this.#cancelHangAlarm();
        this.#resolveReady();
      }
    } catch (error) {
      this.#cancelHangAlarm();
      this.#handleFailure(callError(error));
    } finally {
      // In the same turn as the last look at the queue.
      this.#isBusy = false;
    }
  }

  #hasWork(): boolean {
    return this.#parts.queue.size > 0 || !this.#readyCalls.isEmpty || this.#sweep.isDue;
  }

  async #step(): Promise<void> {
    if (!this.#preparation.isDone) await this.#prepare();
    // Before the calls, which may always be there. At most one step in 50 ms is due.
    if (this.#sweep.isDue) return this.#sweepStep();
    const calls = this.#takeCalls();
    if (calls.length > 0) await this.#execute(calls);
    else if (!this.#isUp) await this.#execute([]);
  }

  /** Takes the oldest calls: one, and more while they have no more than {@link MAX_BUCKETS} buckets together. */
  #takeCalls(): readonly StoreCall[] {
    const { queue } = this.#parts;
    const taken: StoreCall[] = [];
    let buckets = 0;
    for (let { first } = queue; first !== undefined; { first } = queue) {
      buckets += Math.max(1, first.keys.length);
      if (taken.length > 0 && buckets > MAX_BUCKETS) break;
      taken.push(queue.take()!);
    }
    return taken;
  }

  async #sweepStep(): Promise<void> {
    try {
      await this.#sweep.step();
    } catch (error) {
      if (!lacksSchema(error)) throw error;
      this.#preparation.invalidate();
    }
  }

  async #prepare(): Promise<void> {
    // The first statement measures the offset of the server's clock. It has no deadline.
    await this.#preparation.run(this.#parts.session, () => this.#execute([]));
  }

  async #execute(calls: readonly StoreCall[]): Promise<void> {
    const { session, names, time } = this.#parts;
    const sentMicros = time.nowMicros();
    const program = new Program(calls, ({ dueMicros }) =>
      Math.floor(this.#clock.notAfter(dueMicros * TICKS_PER_MICRO)),
    );
    const waitMs = Math.max(1, ...calls.map(({ dueMicros }) => Math.ceil((dueMicros - sentMicros) / 1000)));
    this.#counts.calls++;
    this.#counts.batches += calls.length;
    try {
      const [row] = await session.execute({
        text: `select ${names.run}($1::integer, $2::boolean, $3::text[], $4::bigint[], $5::text[])`,
        values: [waitMs, this.#locks, program.keys, program.numbers, program.holders],
      });
      this.#cancelHangAlarm();
      // Before the callers, who may ask for it.
      this.state.set('up');
      const { nowTicks, hasChanged, expired } = program.answer((row as readonly unknown[])[0]);
      if (calls.length > 0) this.#locks = hasChanged;
      const micros = { sentTicks: sentMicros * TICKS_PER_MICRO, gotTicks: time.nowMicros() * TICKS_PER_MICRO };
      this.#clock.learn({ ...micros, serverTicks: nowTicks });
      this.#repeat(expired);
      this.#sweep.note();
    } catch (error) {
      this.#cancelHangAlarm();
      await this.#failCalls(calls, error);
    }
  }

  /** Calls whose last moment had passed, though they wait: the estimate of the server's clock was wrong, and is right now. */
  #repeat(expired: readonly StoreCall[]): void {
    this.#counts.expired += expired.length;
    for (const call of expired.filter(({ isRepeated }) => isRepeated)) call.expire();
    this.#requeue(expired);
  }

  #requeue(calls: readonly StoreCall[]): void {
    const waiting = calls.filter(({ isIn }) => isIn);
    for (const call of waiting) call.isRepeated = true;
    if (waiting.length > 0) this.#parts.queue.addFirst(waiting);
  }

  // An error that one of several calls has caused must not fail the others.
  async #failCalls(calls: readonly StoreCall[], error: unknown): Promise<void> {
    if (lacksSchema(error) && this.#preparation.isDone) {
      // Somebody has deleted the tables: they are looked at again, and created if the store may.
      this.#preparation.invalidate();
      for (const call of calls.filter(({ isRepeated }) => isRepeated)) call.fail(callError(error));
      return this.#requeue(calls);
    }
    if (isOfOneBatch(error) && calls.length > 1) {
      return this.#executeEach(calls);
    }
    const failure = callError(error);
    for (const call of calls) call.fail(failure);
    if (failure.code !== 'ERR_STORE_BUCKET' && failure.code !== 'ERR_STORE_DEADLINE') throw error;
  }

  async #executeEach(calls: readonly StoreCall[]): Promise<void> {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one statement at a time
      for (const call of calls) if (call.isIn) await this.#execute([call]);
    } catch (error) {
      // Those that were not sent would fail in the same way.
      for (const call of calls) call.fail(callError(error));
      throw error;
    }
  }

  #cancelHangAlarm(): void {
    this.#hangAlarm?.cancel();
    this.#hangAlarm = undefined;
  }

  #closeHungConnection(): void {
    this.#hangAlarm = undefined;
    this.#parts.session.abandon(
      new SluiceError('ERR_STORE_UNAVAILABLE', 'PostgreSQL did not answer, so its connection was closed.'),
    );
  }

  #resolveReady(): void {
    if (this.#preparation.isDone) this.#readyCalls.resolveAll();
  }

  #handleFailure(error: SluiceError): void {
    this.state.fail(error);
    // The next connection may be to another server.
    this.#clock.forget();
    // They would fail in the same way, one after the other.
    for (let call = this.#parts.queue.take(); call !== undefined; call = this.#parts.queue.take()) call.fail(error);
    const isFinal = error.code === 'ERR_STORE_SCHEMA' || error.kind !== 'store';
    if (isFinal) this.#readyCalls.rejectAll(error);
    else this.#readyCalls.retryLater();
  }
}
