import { checkBoolean, checkOptions } from '@sluice/core/kit';
import { schemaSqlText } from './schema-sql.ts';
import { namesOf, type Names } from './table-name.ts';

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
 * Returns the SQL that creates the tables and functions of a store, for a migration tool. It may be run again. Functions of
 * earlier versions stay: their processes use them until they end.
 *
 * @throws {SluiceError} `ERR_OPTION` for a wrong value, `ERR_UNKNOWN_OPTION` for an unknown option.
 */
export function schemaSql(options: SchemaOptions = {}): string {
  checkOptions('schemaSql', options, ['table', 'logged']);
  const { table = DEFAULT_TABLE, logged = false } = options;
  checkBoolean('logged', logged);
  return sqlFor(namesOf(table), logged);
}

/** Returns the SQL of schema.sql with the names of a store. */
export function sqlFor({ table }: Names, isLogged: boolean): string {
  const named = schemaSqlText.replace(/\bsluice(\w*)/g, (_, suffix: string) => table.replace(/"$/, `${suffix}"`));
  return isLogged ? named.replaceAll('create unlogged table', 'create table') : named;
}

/** Returns the part of the SQL that creates the table of blocks. */
export function blocksSqlFor(names: Names): string {
  const [text] = /^create table if not exists sluice_blocks [^;]+;$/m.exec(schemaSqlText)!;
  return text.replace('sluice_blocks', names.blocks);
}

/** The comments that schema.sql gives to its functions. Each has the fingerprint of the function's text. */
export const FUNCTION_COMMENTS: Readonly<Record<'run' | 'sweep', string>> = {
  run: commentOf('sluice_run_v2'),
  sweep: commentOf('sluice_sweep_v1'),
};

function commentOf(name: string): string {
  return new RegExp(`^comment on function ${name} is '(.+)';$`, 'm').exec(schemaSqlText)![1]!;
}
