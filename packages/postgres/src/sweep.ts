import type { Time } from '@sluice/core';
import type { Names } from './schema/table-name.ts';
import type { Session } from './server/session.ts';

/** How many pages of the table are looked at in one step: some thousand rows, about a millisecond. */
const PAGES = 64;
/** The time between two steps, in milliseconds, and after a step that has found something. */
const STEP_MS = 1000;
const NEXT_STEP_MS = 50;

/** A step without an answer for so long has lost its connection, in milliseconds. */
const LIMIT_MS = 5000;

/** Deletes buckets that are full, page after page, while the store is used. */
export class Sweep {
  readonly #session: Session;
  readonly #names: Names;
  readonly #time: Time;
  readonly #onDue: () => void;
  #page = 0;
  #isClosed = false;
  #alarm: { cancel(): void } | undefined;
  #dueMicros: number | undefined;
  /** How many buckets were deleted. */
  swept = 0;

  constructor({ session, names, time }: { session: Session; names: Names; time: Time }, onDue: () => void) {
    this.#session = session;
    this.#names = names;
    this.#time = time;
    this.#onDue = onDue;
  }

  /** Takes note of a call: the next step is made some time after it. */
  note(): void {
    this.#schedule(STEP_MS);
  }

  /** Whether a step is to be made now. */
  get isDue(): boolean {
    return this.#dueMicros !== undefined;
  }

  /** Whether a step has waited for the calls for so long that they wait for it now: there may always be some. */
  get isOverdue(): boolean {
    return this.#dueMicros !== undefined && this.#time.nowMicros() - this.#dueMicros >= STEP_MS * 1000;
  }

  async step(): Promise<void> {
    this.#dueMicros = undefined;
    const statement = { text: `select ${this.#names.sweep}($1, $2)`, values: [this.#page, PAGES] };
    const [row] = await this.#session.execute(statement, LIMIT_MS);
    const [next = 0, deleted = 0] = String((row as readonly unknown[])[0])
      .split(',')
      .map(Number);
    this.#page = next;
    this.swept += deleted;
    if (deleted > 0) this.#schedule(NEXT_STEP_MS);
    else if (this.#page > 0) this.#schedule(STEP_MS);
  }

  close(): void {
    this.#isClosed = true;
    this.#alarm?.cancel();
    this.#alarm = undefined;
  }

  #schedule(ms: number): void {
    if (this.isDue || this.#isClosed || this.#alarm !== undefined) return;
    const alarm = this.#time.alarm(ms, () => {
      this.#alarm = undefined;
      this.#dueMicros = this.#time.nowMicros();
      this.#onDue();
    });
    alarm.unref();
    this.#alarm = alarm;
  }
}
