import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { postgresServer } from '../../postgres/postgres-server.ts';
import { steeredDatabase } from '../../postgres/steered-database.ts';
import { SteeredPostgres } from '../../postgres/steered-store.ts';
import { running } from '../../redis/servers/running.ts';
import { clockCases, schedulingCases } from './cases.ts';

describe('calls are scheduled on the PostgreSQL store', async () => {
  const database = await running.leftRunning(async () => steeredDatabase(await postgresServer()));
  test.each(schedulingCases)('$name', async ({ run }) => {
    const time = new FakeTime();
    await expect(
      run({ store: new SteeredPostgres(database, time), time, advance: (ms) => time.advance(ms) }),
    ).resolves.toBeUndefined();
  });

  test.each(clockCases)('$name', async ({ run }) => {
    const [time, ofServer] = [new FakeTime(), new FakeTime()];
    const advance = (ms: number): void => {
      ofServer.advance(ms);
      time.advance(ms);
    };
    const store = new SteeredPostgres(database, ofServer);
    const step = (ms: number): void => ofServer.set(ofServer.nowMs + ms);
    await expect(run({ store, time, advance, step })).resolves.toBeUndefined();
  });
});
