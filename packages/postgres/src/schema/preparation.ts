import { SluiceError, type Time } from '@sluice/core';
import type { Session } from '../server/session.ts';
import type { Schema } from './schema.ts';

/** Tables that were not as they must be are not looked at again before so many milliseconds. */
const RETRY_MS = 1000;

/** Whether the tables of a store were found as they must be. */
export class Preparation {
  readonly #schema: Schema;
  readonly #time: Time;
  #isDone = false;
  #failed: { readonly error: SluiceError; readonly atMicros: number } | undefined;

  constructor(schema: Schema, time: Time) {
    this.#schema = schema;
    this.#time = time;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Notes that it may be otherwise now: somebody has deleted the tables, or asks for them. */
  invalidate(): void {
    this.#isDone = false;
    this.#failed = undefined;
  }

  /**
   * Looks at the tables, and creates what is missing if the store may.
   *
   * @param andThen - Done before the tables count as found.
   * @throws {SluiceError} As `Schema.prepare`; the same error as before if it was thrown within the last second.
   */
  async run(session: Session, andThen: () => Promise<void>): Promise<void> {
    const last = this.#failed;
    if (last !== undefined && this.#time.nowMicros() - last.atMicros < RETRY_MS * 1000) throw last.error;
    try {
      await this.#schema.prepare(session);
      await andThen();
    } catch (error) {
      const isOfSchema = error instanceof SluiceError && error.code === 'ERR_STORE_SCHEMA';
      this.#failed = isOfSchema ? { error, atMicros: this.#time.nowMicros() } : undefined;
      throw error;
    }
    this.#isDone = true;
  }
}
