import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { postgresServer } from '../../postgres/postgres-server.ts';
import { steeredDatabase } from '../../postgres/steered-database.ts';
import { SteeredPostgres } from '../../postgres/steered-store.ts';
import { running } from '../../redis/servers/running.ts';
import { schedulingCases } from './cases.ts';

describe('calls are scheduled on the PostgreSQL store', async () => {
  const database = await running.leftRunning(async () => steeredDatabase(await postgresServer()));
  test.each(schedulingCases)('$name', async ({ run }) => {
    const time = new FakeTime();
    await expect(
      run({ store: new SteeredPostgres(database, time), time, advance: (ms) => time.advance(ms) }),
    ).resolves.toBeUndefined();
  });
});
