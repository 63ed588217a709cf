import { messageOf } from '@sluice/core/kit';
import type { Client } from 'pg';
import type { Call } from '../console/command.ts';
import { timeoutOf } from '../redis/options.ts';
import { Check, type Examined, type Finding } from './finding.ts';
import { POSTGRES_CHECKS } from './postgres-checks.ts';
import { lookAt, tablesOf } from './postgres-look.ts';
import { ofStore } from './store.ts';

/** Looks at the tables of a store in PostgreSQL, as its own user. All statements are transactions that may only read. */
export async function examinePostgres(call: Call, url: string, deadlineMs: number): Promise<readonly Examined[]> {
  const store = await ofStore(call, deadlineMs);
  const client = await connected(url, timeoutOf(call));
  if (typeof client === 'string') return [{ findings: [...store, ...refused(store, client)] }];
  try {
    return [
      { findings: store },
      { server: `${client.host}:${client.port}`, findings: await ofServer(call, client, deadlineMs) },
    ];
  } finally {
    await client.end().catch(() => {});
  }
}

async function ofServer(call: Call, client: Client, deadlineMs: number): Promise<readonly Finding[]> {
  const { time } = call.console;
  try {
    const tables = tablesOf(call.text('table'));
    const beforeMs = time.wallNow();
    const found = await lookAt(client, tables);
    const nowMs = (beforeMs + time.wallNow()) / 2;
    return POSTGRES_CHECKS.map((check) => check(found, { tables, nowMs, deadlineMs }));
  } catch (error) {
    return [new Check('server').wrong(`it does not answer: ${messageOf(error)}`, 'Look at its log.')];
  }
}

/** What is wrong if there is no connection, and the store has not said it. */
function refused(store: readonly Finding[], reason: string): readonly Finding[] {
  if (store.some(({ verdict }) => verdict === 'wrong')) return [];
  const remedy = 'Each process makes up to two. Raise the limit of the role, of the database or of the server.';
  return [new Check('connections').wrong(`another one was refused: ${reason}`, remedy)];
}

/** Returns the reason if there is no connection. */
async function connected(connectionString: string, timeoutMs: number): Promise<Client | string> {
  const { Client: PgClient } = (await import('pg')).default;
  const client = new PgClient({ connectionString, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    return messageOf(error);
  }
}
