// The room schema: the tables and functions: whether they are there, and how they are made.
import { SluiceError } from '@sluice/core';
import type { Session } from '../server/session.ts';
import { findSchema, type FoundSchema } from './found-schema.ts';
import { blocksSqlFor, sqlFor } from './schema-text.ts';
import type { Names } from './table-name.ts';

/** Tables are looked at or created within this time, in milliseconds, while calls wait for them. */
export const PREPARE_MS = 5000;
/** `migrate` ends within this time, in milliseconds: others may use the tables meanwhile. */
const MIGRATE_MS = 30_000;
/** The server ends a wait for a lock so much sooner, in milliseconds, so that it says what it waited for. */
const LOCK_MARGIN_MS = 1000;

/** What the store needs of the database, and whether it may create it. */
export interface SchemaParts {
  readonly names: Names;
  /** Whether the tables must survive a crash of the server. */
  readonly logged: boolean;
  readonly migrates: boolean;
}

/** The tables and functions of a store in a database. */
export class Schema {
  readonly #parts: SchemaParts;

  constructor(parts: SchemaParts) {
    this.#parts = parts;
  }

  /**
   * Looks whether everything is there, and creates what is missing if the store may.
   *
   * @throws {SluiceError} `ERR_STORE_SCHEMA` if something is missing, of another version or not of this package.
   */
  async prepare(session: Session): Promise<void> {
    const found = await this.#find(session, PREPARE_MS);
    if (found.lacks === undefined) return found.hasBlocks ? undefined : this.#tryBlocks(session);
    if (!this.#parts.migrates) throw found.missingError;
    await this.#create(session, PREPARE_MS);
  }

  /**
   * Creates what is missing.
   *
   * @param dropsOld - Whether it then drops the functions of earlier versions.
   * @throws {SluiceError} As {@link prepare}.
   */
  async migrate(session: Session, dropsOld: boolean): Promise<void> {
    const found = await this.#find(session, MIGRATE_MS);
    if (found.lacks !== undefined) await this.#create(session, MIGRATE_MS);
    else if (!found.hasBlocks) await this.#change(session, MIGRATE_MS, blocksSqlFor(this.#parts.names));
    const drops = this.#parts.names.old.map((name) => `drop function if exists ${name};`);
    if (dropsOld) await this.#change(session, MIGRATE_MS, drops.join('\n'));
  }

  /**
   * Creates the table of blocks if it is missing and the store may.
   *
   * @throws {SluiceError} `ERR_STORE_SCHEMA` if it may not. Otherwise what pg throws.
   */
  async addBlocks(session: Session): Promise<void> {
    const { names, migrates } = this.#parts;
    if (migrates) return this.#change(session, PREPARE_MS, blocksSqlFor(names));
    throw new SluiceError(
      'ERR_STORE_SCHEMA',
      `The table ${names.blocks} does not exist, so no id can be blocked. Call store.migrate() with a user who may create it, ` +
        'run the SQL of schemaSql(), or leave out `migrate: false`.',
    );
  }

  /** A user who may not create it decides without it. */
  async #tryBlocks(session: Session): Promise<void> {
    if (this.#parts.migrates) await this.addBlocks(session).catch(() => {});
  }

  async #create(session: Session, limitMs: number): Promise<void> {
    const { names, logged } = this.#parts;
    await this.#change(session, limitMs, sqlFor(names, logged));
    const found = await this.#find(session, limitMs);
    if (found.lacks !== undefined) throw found.missingError;
  }

  /** @param limitMs - How long it may take, in milliseconds. */
  async #change(session: Session, limitMs: number, sql: string): Promise<void> {
    // Statements of one message are one transaction. The lock is for processes that start together. A server does not notice
    // that a client has left while it waits for a lock, so it has a limit of its own.
    const limit = `select set_config('lock_timeout', '${limitMs - LOCK_MARGIN_MS}', true);`;
    const lock = 'select pg_advisory_xact_lock(7598814302714);';
    await session.execute({ text: `${limit}\n${lock}\n${sql}` }, limitMs);
  }

  async #find(session: Session, limitMs: number): Promise<FoundSchema> {
    const found = await findSchema(session, this.#parts.names, limitMs);
    found.check(this.#parts.logged);
    return found;
  }
}
