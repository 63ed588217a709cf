import { describe } from 'vitest';
import { postgresServer } from '../../postgres/postgres-server.ts';
import { steeredDatabase } from '../../postgres/steered-database.ts';
import { SteeredPostgres } from '../../postgres/steered-store.ts';
import { running } from '../../redis/servers/running.ts';
import { scheduledOn } from './on-server.ts';

describe('calls are scheduled on the PostgreSQL store', async () => {
  const database = await running.leftRunning(async () => steeredDatabase(await postgresServer()));
  scheduledOn((serverTime, time) => new SteeredPostgres(database, serverTime, time));
});
