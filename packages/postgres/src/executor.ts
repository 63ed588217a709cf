import { SluiceError, type Time } from '@sluice/core';
import { ServerClock, type CallQueue } from '@sluice/core/kit';
import { TICKS_PER_MICRO, type Alarm } from '@sluice/core/store';
import { missedError, overloadError, Pace, SharedError } from './calls/pace.ts';
import { Program } from './calls/program.ts';
import type { MakeError, StoreCall } from './calls/store-call.ts';
import { Preparation } from './schema/preparation.ts';
import { PREPARE_MS, type Schema } from './schema/schema.ts';
import type { Names } from './schema/table-name.ts';
import { CONNECT_MS } from './server/connector.ts';
import { NoPgError } from './server/pool.ts';
import { callError, isOfOneBatch, lacksSchema } from './server/server-errors.ts';
import { noAnswerError, type Session } from './server/session.ts';
import { Probe } from './probe.ts';
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
  /** A connection that was unused for so many milliseconds is used, to keep it; undefined if it need not be kept. */
  readonly keepMs: number | undefined;
}

/** What is executed beside the calls. */
interface Aside {
  readonly run: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/** A connection on which no answer has come for so long after a deadline is closed, in milliseconds. */
const HANG_MS = 100;

/** Sends the calls of a queue, one statement at a time: those that have arrived meanwhile are the next one. */
export class Executor {
  readonly #parts: ExecutorParts;
  readonly state: StoreState;
  readonly #clock = new ServerClock();
  readonly #pace: Pace;
  readonly #sweep: Sweep;
  readonly #probe: Probe;
  readonly #preparation: Preparation;
  readonly #counts = { batches: 0, calls: 0, missed: 0, expired: 0 };
  #isBusy = false;
  #isPreparing = false;
  /** The sessions of `migrate`. */
  readonly #migrations = new Set<Session>();
  /** Whether the next statement locks at once: not the first one, which may only look, and not while batches are denied. */
  #locks = false;
  #hangAlarm: Pick<Alarm, 'cancel'> | undefined;
  readonly #readyCalls: ReadyCalls;
  readonly #asides: Aside[] = [];
  readonly #overload = new SharedError(overloadError);
  readonly #missed = new SharedError(missedError);

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
    this.state = new StoreState(parts.time);
    this.#pace = new Pace(parts.time);
    this.#preparation = new Preparation(parts.schema, parts.time);
    this.#sweep = new Sweep(parts, () => this.wake());
    this.#probe = new Probe(parts.time, parts.keepMs, () => this.wake());
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
    if (this.#parts.queue.size > 0) this.#probe.use();
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

  /** Executes statements beside the calls. An error reaches the caller alone: the next call finds a lost connection. */
  aside<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (): Promise<void> =>
        work(this.#parts.session).then(resolve, (error: unknown) => reject(callError(error)));
      this.#asides.push({ run, reject });
      this.wake();
    });
  }

  /** Creates the tables. */
  async migrate(dropsOld: boolean): Promise<void> {
    // A client of its own: a statement that changes tables may wait for long.
    const session = this.#parts.session.another();
    this.#migrations.add(session);
    try {
      await this.#parts.schema.migrate(session, dropsOld);
    } catch (error) {
      throw callError(error);
    } finally {
      this.#migrations.delete(session);
    }
    this.#preparation.invalidate();
  }

  /**
   * Whether a call waits for longer than its deadline: while a connection is made, or its tables are looked at, the deadline
   * has not begun. After a failure calls do not wait like that, so an outage costs the time once.
   */
  mayWait({ madeMicros, sentMicros }: StoreCall): boolean {
    const { session, time } = this.#parts;
    if (sentMicros !== undefined || !(this.#isPreparing || session.isOpening)) return false;
    if (this.state.current !== 'connecting' && this.state.current !== 'up') return false;
    return time.nowMicros() - madeMicros < CONNECT_MS * 1000;
  }

  /** Takes note of a missed deadline. */
  noteMiss(call: StoreCall): MakeError {
    this.#counts.missed++;
    // Everything else that is executed has a limit of its own.
    if (this.#pace.isAwaiting) {
      this.#hangAlarm ??= this.#parts.time.alarm(HANG_MS, () => this.#closeHungConnection());
    }
    const { deadlineMs } = call;
    // While no statement was sent, a connection is awaited.
    const isOverload = this.#isBusy ? this.#pace.isOverload(call) : this.#isUp;
    const error = isOverload ? this.#overload : this.#missed;
    return () => error.of(deadlineMs);
  }

  async close(): Promise<void> {
    this.state.set('closed');
    this.#sweep.close();
    this.#probe.close();
    this.#cancelHangAlarm();
    const error = new SluiceError('ERR_CLOSED', 'The PostgreSQL store was closed.');
    for (const session of [this.#parts.session, ...this.#migrations]) session.end(error);
    this.#readyCalls.rejectAll(error);
    for (const { reject } of this.#asides.splice(0)) reject(error);
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
    const isDue = this.#sweep.isDue || this.#probe.isDue || this.#asides.length > 0;
    return this.#parts.queue.size > 0 || !this.#readyCalls.isEmpty || isDue;
  }

  async #step(): Promise<void> {
    const { session } = this.#parts;
    try {
      // Before the calls are taken: those that arrive meanwhile are sent with them.
      await this.#open();
      if (this.#isTimeToSweep()) return await this.#sweepStep();
      const aside = this.#asides.shift();
      if (aside !== undefined) return await aside.run();
      const late = this.#pace.takeLate(this.#parts.queue);
      const calls = this.#pace.takeNext(this.#parts.queue);
      const isNeeded = calls.length > 0 || !this.#isUp || this.#probe.isDue;
      const executed = isNeeded ? this.#execute(calls) : undefined;
      // While PostgreSQL executes the statement: there may be thousands.
      this.#failLate(late);
      await executed;
    } finally {
      session.disconnect();
    }
  }

  /** Waits for a connection and for the tables. If either had to be made, the deadlines of the calls begin after it. */
  async #open(): Promise<void> {
    const isNew = await this.#parts.session.connect();
    if (this.#preparation.isDone && !isNew) return;
    if (this.#preparation.isDone) await this.#whilePreparing(() => this.#execute([]));
    // Or the tables have been deleted.
    if (!this.#preparation.isDone) await this.#prepare();
    for (const call of this.#parts.queue) call.renew();
  }

  #failLate(late: readonly StoreCall[]): void {
    this.#counts.missed += late.length;
    for (const call of late) call.failWith(() => this.#overload.of(call.deadlineMs));
  }

  #isTimeToSweep(): boolean {
    return this.#sweep.isDue && (this.#parts.queue.first === undefined || this.#sweep.isOverdue);
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
    await this.#whilePreparing(() => this.#preparation.run(this.#parts.session, () => this.#execute([])));
  }

  async #whilePreparing(work: () => Promise<void>): Promise<void> {
    this.#isPreparing = true;
    try {
      await work();
    } finally {
      this.#isPreparing = false;
    }
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
    this.#pace.sent(calls);
    try {
      const statement = {
        text: `select ${names.run}($1::integer, $2::boolean, $3::text[], $4::bigint[], $5::text[])`,
        values: [waitMs, this.#locks, program.keys, program.numbers, program.holders],
      };
      const limitMs = calls.length > 0 ? Math.max(...calls.map(({ deadlineMs }) => deadlineMs)) + HANG_MS : PREPARE_MS;
      const [row] = await session.execute(statement, limitMs);
      this.#noteAnswered();
      // Before the callers, who may ask for it.
      this.state.set('up');
      const { nowTicks, hasChanged, expired } = program.answer((row as readonly unknown[])[0]);
      if (calls.length > 0) this.#locks = hasChanged;
      const micros = { sentTicks: sentMicros * TICKS_PER_MICRO, gotTicks: time.nowMicros() * TICKS_PER_MICRO };
      this.#clock.learn({ ...micros, serverTicks: nowTicks });
      this.#repeat(expired);
      this.#sweep.note();
    } catch (error) {
      this.#pace.failed();
      this.#cancelHangAlarm();
      await this.#failCalls(calls, error);
    }
  }

  #noteAnswered(): void {
    this.#cancelHangAlarm();
    this.#probe.answered();
    this.#pace.answered();
  }

  /** Calls whose last moment had passed, though they wait: the estimate of the server's clock was wrong, and is right now. */
  #repeat(expired: readonly StoreCall[]): void {
    this.#counts.expired += expired.length;
    for (const call of expired.filter(({ isRepeated }) => isRepeated)) call.expire();
    this.#requeue(expired);
  }

  #requeue(calls: readonly StoreCall[]): void {
    const waiting = calls.filter(({ isIn }) => isIn);
    for (const call of waiting) {
      call.isRepeated = true;
      call.sentMicros = undefined;
    }
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
    const isOfCalls = failure.code === 'ERR_STORE_BUCKET' || failure.code === 'ERR_STORE_DEADLINE';
    if (!isOfCalls || calls.length === 0) throw error;
  }

  async #executeEach(calls: readonly StoreCall[]): Promise<void> {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one statement at a time
      for (const call of calls) if (call.isIn) await this.#execute([call]);
    } catch (error) {
      // Calls that were not sent would fail in the same way.
      for (const call of calls) call.fail(callError(error));
      throw error;
    }
  }

  #cancelHangAlarm(): void {
    this.#hangAlarm?.cancel();
    this.#hangAlarm = undefined;
  }

  #closeHungConnection(): void {
    // The process may have been busy, and the answer may have arrived.
    const cancel = this.#parts.time.endOfTurn(() => this.#parts.session.abandon(noAnswerError()));
    this.#hangAlarm = { cancel };
  }

  #resolveReady(): void {
    if (this.#preparation.isDone) this.#readyCalls.resolveAll();
  }

  #handleFailure(error: SluiceError): void {
    this.state.fail(error);
    this.#probe.failed();
    // The next connection may be to another server.
    this.#clock.forget();
    // They would fail in the same way, one after the other.
    for (const { reject } of this.#asides.splice(0)) reject(error);
    for (let call = this.#parts.queue.take(); call !== undefined; call = this.#parts.queue.take()) call.fail(error);
    // Waiting is no help: somebody has to change something.
    const isFinal = error.code === 'ERR_STORE_SCHEMA' || error.kind !== 'store' || error instanceof NoPgError;
    if (isFinal) this.#readyCalls.rejectAll(error);
    else this.#readyCalls.retryLater();
  }
}
