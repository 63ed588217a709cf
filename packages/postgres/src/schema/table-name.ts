import { complaint } from '@sluice/core/kit';

/** The longest names of PostgreSQL have 63 bytes. The names of the store are up to 9 longer than that of the table. */
const NAME = /^[a-z_][a-z0-9_]{0,47}$/;

/** The names of what the store has in the database, quoted for SQL. */
export interface Names {
  readonly table: string;
  readonly slots: string;
  readonly blocks: string;
  readonly run: string;
  readonly sweep: string;
  /** The functions of earlier versions, which their processes use while both run. */
  readonly old: readonly string[];
}

/** @throws {SluiceError} `ERR_OPTION` if the name of a table is not valid. */
export function namesOf(table: unknown): Names {
  const parts = typeof table === 'string' ? table.split('.') : [];
  if (parts.length < 1 || parts.length > 2 || !parts.every((part) => NAME.test(part))) {
    throw complaint('ERR_OPTION', {
      option: 'table',
      demand: 'up to 48 of a-z, 0-9 and _, not beginning with a digit; with a schema before a dot if needed',
      value: table,
      remedy: "For example table: 'sluice', or table: 'limits.sluice'.",
    });
  }
  const named = (suffix: string): string => `${parts.map((part) => `"${part}`).join('".')}${suffix}"`;
  return {
    table: named(''),
    slots: named('_slots'),
    blocks: named('_blocks'),
    run: named('_run_v2'),
    sweep: named('_sweep_v1'),
    old: [named('_run_v1')],
  };
}
