import { messageOf } from '@sluice/core/kit';
import type { Time } from '@sluice/core';
import type { Client } from 'pg';
import { CommandError } from '../console/failure.ts';

/** Where the buckets of a store in PostgreSQL are. */
export interface TableAddress {
  readonly connectionString: string;
  /** With a schema before a dot, as the option of the store. */
  readonly table: string;
  readonly timeoutMs: number;
}

/** What to list. */
export interface TableKeysOptions {
  /** Undefined for all limits. */
  readonly limit: string | undefined;
  readonly time: Time;
  /** The rows of a step. */
  readonly count: number;
}

/** Above the keys of all limits, whose names begin with a letter. */
const ABOVE_ALL = '~';

/**
 * Lists the keys of a table in the order of its primary key, in small steps on a connection of its own. Each step is a
 * transaction that may only read, with a limit of rows and of time, and holds no lock between two steps.
 *
 * @throws {CommandError} If the server does not answer within the time, or does not permit SELECT.
 */
export async function* tableKeys(
  { connectionString, table, timeoutMs }: TableAddress,
  { limit, time, count }: TableKeysOptions,
): AsyncGenerator<readonly string[]> {
  const { Client: PgClient } = (await import('pg')).default;
  const client = new PgClient({ connectionString, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
  client.on('error', () => {});
  // The name was validated by the store.
  const from = table.replace(/[^.]+/g, '"$&"');
  // In the order of bytes, a semicolon follows the colon after the name of a limit.
  let [after, end] = limit === undefined ? ['', ABOVE_ALL] : [`${limit}:`, `${limit};`];
  try {
    await client.connect();
    for (let keys = [after]; keys.length > 0; after = keys.at(-1) ?? end) {
      const startMicros = time.nowMicros();
      // oxlint-disable-next-line no-await-in-loop -- one step after the other
      keys = await step(client, { from, after, end, count, timeoutMs });
      yield keys;
      // With what the caller has asked about these keys.
      const tookMs = (time.nowMicros() - startMicros) / 1000;
      // oxlint-disable-next-line no-await-in-loop
      await new Promise<void>((resolve) => time.alarm(Math.max(1, tookMs), resolve));
    }
  } catch (error) {
    const remedy = 'Check the server, or grant the user select on the table.';
    throw new CommandError(`PostgreSQL could not list the buckets of ${from}: ${messageOf(error)}. ${remedy}`);
  } finally {
    await client.end().catch(() => {});
  }
}

interface Step {
  readonly from: string;
  readonly after: string;
  readonly end: string;
  readonly count: number;
  readonly timeoutMs: number;
}

async function step(client: Client, { from, after, end, count, timeoutMs }: Step): Promise<string[]> {
  // Without statistics, as after a start, the planner might sort the whole table.
  await client.query(
    `begin read only; set local statement_timeout = ${timeoutMs}; set local enable_seqscan = off; set local enable_bitmapscan = off`,
  );
  const { rows } = await client.query<{ readonly key: string }>(
    `select key from ${from} where key > $1 and key < $2 order by key limit ${count}`,
    [after, end],
  );
  await client.query('commit');
  return rows.map(({ key }) => key);
}
