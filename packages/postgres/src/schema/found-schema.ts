import { SluiceError } from '@sluice/core';
import type { Session } from '../server/session.ts';
import { FUNCTION_COMMENTS } from './schema-text.ts';
import type { Names } from './table-name.ts';

/** The version of the tables that this package uses. */
const VERSION = 1;

/** A function of the store, as it was found. */
interface FoundFunction {
  readonly name: string;
  readonly exists: boolean;
  readonly comment: string | undefined;
  /** The comment of the function that this package makes. */
  readonly expected: string;
}

/** What a database has of a store's tables and functions. */
export class FoundSchema {
  readonly #names: Names;
  readonly #isolation: string;
  readonly #exists: boolean;
  /** Undefined if the table is not one of this package. */
  readonly #version: number | undefined;
  readonly #isLogged: boolean;
  readonly #hasSlots: boolean;
  /** Whether there is the table of blocks. Decisions do without it: an earlier version may have made the others. */
  readonly hasBlocks: boolean;
  readonly #functions: readonly FoundFunction[];

  /** @param row - The row of {@link FIND}. */
  constructor(names: Names, row: readonly (string | null)[]) {
    const [isolation, oid, comment, persistence, slots, run, runComment, sweep, sweepComment, blocks] = row;
    const [, version] = /^Buckets of Sluice, version (\d+)$/.exec(comment ?? '') ?? [];
    this.#names = names;
    this.#isolation = isolation!;
    this.#exists = oid !== null;
    this.#version = version === undefined ? undefined : Number(version);
    this.#isLogged = persistence === 'p';
    this.#hasSlots = slots !== null;
    this.hasBlocks = blocks !== null;
    this.#functions = [
      foundFunction(names.run, run!, runComment!, FUNCTION_COMMENTS.run),
      foundFunction(names.sweep, sweep!, sweepComment!, FUNCTION_COMMENTS.sweep),
    ];
  }

  /**
   * Checks that this package may use what there is, and add to it.
   *
   * @param isLogged - Whether the tables must survive a crash of the server.
   * @throws {SluiceError} `ERR_STORE_SCHEMA` if not.
   */
  check(isLogged: boolean): void {
    const { table, slots } = this.#names;
    if (this.#isolation !== 'read committed') {
      throw this.#error(
        `the transactions of this user are ${this.#isolation}. The store needs read committed: ` +
          "alter role … set default_transaction_isolation to 'read committed'.",
      );
    }
    if (!this.#exists) return;
    if (this.#version === undefined) {
      throw this.#error(
        'it was not created by this package, or has lost its comment. Give the store a `table` of its own.',
      );
    }
    if (this.#version > VERSION) {
      throw this.#error(
        `it has version ${this.#version}, and this package knows version ${VERSION}. Update @sluice/postgres, or give the store ` +
          'another `table`.',
      );
    }
    if (isLogged && !this.#isLogged) {
      throw this.#error(
        `it is unlogged, but \`logged\` is true. Change it: alter table ${table} set logged; alter table ${slots} set logged.`,
      );
    }
    const other = this.#functions.find(({ comment, expected }) => comment !== undefined && comment !== expected);
    if (other !== undefined) throw this.#otherFunction(other);
  }

  /** What has to be created; undefined if nothing. */
  get lacks(): string | undefined {
    if (!this.#exists) return 'it does not exist';
    if (this.#version! < VERSION) return `it has version ${this.#version}, and this package needs version ${VERSION}`;
    if (!this.#hasSlots) return `the table ${this.#names.slots} is missing`;
    const missing = this.#functions.find(({ exists }) => !exists);
    if (missing !== undefined) return `its function ${missing.name} is missing`;
    // Restored without comments, or made by hand and not to the end.
    const bare = this.#functions.find(({ comment }) => comment === undefined);
    return bare && `its function ${bare.name} has no comment, which would show that it is the one of this package`;
  }

  /** The error for a store that may not create what is missing. */
  get missingError(): SluiceError {
    return this.#error(
      `${this.lacks}. Call store.migrate() with a user who may create it, run the SQL of schemaSql(), or leave out \`migrate: false\`.`,
    );
  }

  // Other processes may use it, so it is not replaced.
  #otherFunction({ name, comment, expected }: FoundFunction): SluiceError {
    return this.#error(
      `its function ${name} is another one than this package makes: its comment is '${comment}', and not '${expected}'. If no ` +
        `process uses it, drop it (drop function ${name}), and the store creates its own; otherwise give the store another \`table\`.`,
    );
  }

  #error(reason: string): SluiceError {
    return new SluiceError('ERR_STORE_SCHEMA', `The table ${this.#names.table} can't be used: ${reason}`);
  }
}

function foundFunction(name: string, oid: string | null, comment: string | null, expected: string): FoundFunction {
  return { name, exists: oid !== null, comment: comment ?? undefined, expected };
}

const FIND = `select current_setting('transaction_isolation'), c.oid::text, obj_description(c.oid, 'pg_class'),
  c.relpersistence::text, to_regclass($2)::text,
  f.run::text, obj_description(f.run, 'pg_proc'), f.sweep::text, obj_description(f.sweep, 'pg_proc'), to_regclass($5)::text
from (values (to_regclass($1), to_regproc($3)::oid, to_regproc($4)::oid)) as f(oid, run, sweep)
left join pg_class as c on c.oid = f.oid`;

/** Looks what a database has of a store. */
export async function findSchema(session: Session, names: Names, limitMs: number): Promise<FoundSchema> {
  const values = [names.table, names.slots, names.run, names.sweep, names.blocks];
  const [row] = await session.execute({ text: FIND, values }, limitMs);
  return new FoundSchema(names, row as readonly (string | null)[]);
}
