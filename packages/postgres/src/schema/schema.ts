// The room schema: the tables and functions: whether they are there, and how they are made.
import { SluiceError } from '@sluice/core';
import { checkBoolean, checkOptions } from '@sluice/core/kit';
import type { Session } from '../server/session.ts';
import { schemaSqlText } from './schema-sql.ts';
import { namesOf, type Names } from './table-name.ts';

/** The version of the tables and functions that this package uses. */
const VERSION = 1;

/** Tables are looked at or created within this time, in milliseconds, while calls wait for them. */
export const PREPARE_MS = 5000;
/** `migrate` ends within this time, in milliseconds: others may use the tables meanwhile. */
const MIGRATE_MS = 30_000;
/** The server ends a wait for a lock so much sooner, in milliseconds, so that it says what it waited for. */
const LOCK_MARGIN_MS = 1000;

/** The table of a store that names none. */
export const DEFAULT_TABLE = 'sluice';

/** The options of {@link schemaSql}. */
export interface SchemaOptions {
  /** As of the store. Default: `sluice`. */
  readonly table?: string | undefined;
  /** As of the store. Default: false. */
  readonly logged?: boolean | undefined;
}

/**
 * Returns the SQL that creates the tables and functions of a store, for a migration tool. It may be run again.
 *
 * @throws {SluiceError} `ERR_OPTION` for a wrong value, `ERR_UNKNOWN_OPTION` for an unknown option.
 */
export function schemaSql(options: SchemaOptions = {}): string {
  checkOptions('schemaSql', options, ['table', 'logged']);
  const { table = DEFAULT_TABLE, logged = false } = options;
  checkBoolean('logged', logged);
  return sqlFor(namesOf(table), logged);
}

function sqlFor({ table, slots, run, sweep }: Names, isLogged: boolean): string {
  const names: Readonly<Record<string, string>> = {
    sluice: table,
    sluice_slots: slots,
    sluice_run_v1: run,
    sluice_sweep_v1: sweep,
  };
  const named = schemaSqlText.replace(/\bsluice(?:_slots|_run_v1|_sweep_v1)?\b/g, (name) => names[name]!);
  return isLogged ? named.replaceAll('create unlogged table', 'create table') : named;
}

/** What the store needs of the database, and whether it may create it. */
export interface SchemaParts {
  readonly table: string;
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
   * @throws {SluiceError} `ERR_STORE_SCHEMA` if something is missing or of another version.
   */
  async prepare(session: Session): Promise<void> {
    const found = await this.#find(session, PREPARE_MS);
    if (this.#lacks(found) === undefined) return;
    if (!this.#parts.migrates) throw this.#missing(found);
    await this.#create(session, PREPARE_MS);
  }

  /**
   * Creates what is missing.
   *
   * @throws {SluiceError} As {@link prepare}.
   */
  async migrate(session: Session): Promise<void> {
    if (this.#lacks(await this.#find(session, MIGRATE_MS)) !== undefined) await this.#create(session, MIGRATE_MS);
  }

  /** @param limitMs - How long it may take, in milliseconds. */
  async #create(session: Session, limitMs: number): Promise<void> {
    const { names, logged } = this.#parts;
    // Statements of one message are one transaction. The lock is for processes that start together. A server does not notice
    // that a client has left while it waits for a lock, so it has a limit of its own.
    const limit = `select set_config('lock_timeout', '${limitMs - LOCK_MARGIN_MS}', true);`;
    const lock = 'select pg_advisory_xact_lock(7598814302714);';
    await session.execute({ text: `${limit}\n${lock}\n${sqlFor(names, logged)}` }, limitMs);
    const found = await this.#find(session, limitMs);
    if (this.#lacks(found) !== undefined) throw this.#missing(found);
  }

  async #find(session: Session, limitMs: number): Promise<Found> {
    const { names, table } = this.#parts;
    const [row] = await session.execute({ text: FIND, values: [names.table, names.run, names.sweep] }, limitMs);
    const found = foundIn(row as readonly (string | null)[]);
    if (found.isolation !== 'read committed') {
      throw this.#error(
        `the transactions of this user are ${found.isolation}. The store needs read committed: ` +
          "alter role … set default_transaction_isolation to 'read committed'.",
      );
    }
    if (!found.exists) return found;
    if (found.version === undefined) {
      throw this.#error(`it was not created by this package. Give the store a \`table\` of its own.`);
    }
    if (found.version > VERSION) {
      throw this.#error(
        `it has version ${found.version}, and this package knows version ${VERSION}. Update @sluice/postgres, or give the store ` +
          `another \`table\` than ${table}.`,
      );
    }
    if (this.#parts.logged && !found.isLogged) {
      throw this.#error(
        `it is unlogged, but \`logged\` is true. Change it: alter table ${names.table} set logged; alter table ${names.slots} set logged.`,
      );
    }
    return found;
  }

  /** What has to be created; undefined if nothing. */
  #lacks(found: Found): string | undefined {
    if (!found.exists) return 'it does not exist';
    if (found.version! < VERSION) return `it has version ${found.version}, and this package needs version ${VERSION}`;
    return found.hasFunctions ? undefined : 'its functions are missing';
  }

  #missing(found: Found): SluiceError {
    return this.#error(
      `${this.#lacks(found)}. Call store.migrate() with a user who may create it, run the SQL of schemaSql(), or leave out \`migrate: false\`.`,
    );
  }

  #error(reason: string): SluiceError {
    return new SluiceError('ERR_STORE_SCHEMA', `The table ${this.#parts.names.table} can't be used: ${reason}`);
  }
}

interface Found {
  readonly isolation: string;
  readonly exists: boolean;
  /** Undefined if the table is not one of this package. */
  readonly version: number | undefined;
  readonly isLogged: boolean;
  readonly hasFunctions: boolean;
}

const FIND = `select current_setting('transaction_isolation'), c.oid::text, obj_description(c.oid, 'pg_class'),
  c.relpersistence::text, to_regproc($2)::text, to_regproc($3)::text
from (values (to_regclass($1))) as t(oid) left join pg_class as c on c.oid = t.oid`;

function foundIn([isolation, oid, comment, persistence, run, sweep]: readonly (string | null)[]): Found {
  const [, version] = /^Buckets of Sluice, version (\d+)$/.exec(comment ?? '') ?? [];
  return {
    isolation: isolation!,
    exists: oid !== null,
    version: version === undefined ? undefined : Number(version),
    isLogged: persistence === 'p',
    hasFunctions: run !== null && sweep !== null,
  };
}
