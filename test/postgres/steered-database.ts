import { Pool } from 'pg';
import { running } from '../redis/servers/running.ts';
import type { PostgresServer } from './postgres-server.ts';

const NAME = 'steered';
const START = '2026-07-01 12:00:00+00';

/** A database whose clock a test moves. */
export interface SteeredDatabase {
  readonly pool: Pool;
  /** Moves the clock ahead, or back by less than 0 milliseconds. */
  advance(ms: number): Promise<void>;
  /** Sets the clock to milliseconds of Unix time. */
  set(ms: number): Promise<void>;
  /** Deletes all buckets of a table. */
  empty(table: string): Promise<void>;
}

/**
 * Creates a database in which `clock_timestamp()` is a function of the test: its schema comes before that of the functions
 * of PostgreSQL.
 */
export async function steeredDatabase(server: PostgresServer): Promise<SteeredDatabase> {
  const database = `${NAME}_${server.newTable()}`;
  await server.query(`create database ${database}`);
  await server.query(`alter database ${database} set search_path = ${NAME}, pg_catalog, public`);
  const pool = new Pool({ connectionString: server.url.replace(/\w+$/, database), max: 2, allowExitOnIdle: true });
  pool.on('error', () => {});
  running.add({ close: () => pool.end() });
  const run = async (text: string): Promise<void> => void (await pool.query(text));
  await run(`
    create schema ${NAME};
    create unlogged table ${NAME}.clock (at timestamptz);
    insert into ${NAME}.clock values ('${START}');
    create function ${NAME}.clock_timestamp() returns timestamptz language sql volatile
    as 'select at from ${NAME}.clock';
  `);
  return {
    pool,
    advance: (ms) => run(`update ${NAME}.clock set at = at + ${ms} * interval '1 ms'`),
    set: (ms) => run(`update ${NAME}.clock set at = to_timestamp(${ms} / 1000.0)`),
    empty: (table) => run(`delete from ${table}; delete from ${table}_slots; delete from ${table}_blocks`),
  };
}
