import { FakeTime, storeContract, type ContractCase } from '@sluice/core/testing';
import { postgresStore } from '@sluice/postgres';
import { describe, expect, test } from 'vitest';
import { patient } from '../patient.ts';
import { postgresServer } from '../postgres/postgres-server.ts';
import { steeredDatabase } from '../postgres/steered-database.ts';
import { realDelay } from '../real-delay.ts';
import { running } from '../redis/servers/running.ts';

async function keepsPromise({ run }: ContractCase): Promise<void> {
  await expect(run()).resolves.toBeUndefined();
}

describe('the PostgreSQL store keeps the contract of stores', async () => {
  const server = await postgresServer();
  const cases = storeContract({
    clock: 'real',
    async create() {
      const store = postgresStore({ pool: server.pool, table: server.newTable() });
      await store.ready();
      return {
        store: patient(store),
        advance: realDelay,
        async hang(run) {
          server.freeze();
          try {
            await run();
          } finally {
            server.thaw();
          }
        },
      };
    },
  });
  // Most of their time is waiting for the clock of the server.
  test.concurrent.each(cases.filter(({ alone }) => !alone))('$name', keepsPromise);
  test.each(cases.filter(({ alone }) => alone))('$name', keepsPromise);
});

describe('on a clock that a test moves', async () => {
  const database = await running.leftRunning(async () => steeredDatabase(await postgresServer()));
  const { pool } = database;
  const table = 'steered_buckets';
  await postgresStore({ pool, table }).migrate();
  const cases = storeContract({
    clock: 'steered',
    async create() {
      await database.empty(table);
      const time = new FakeTime();
      const store = postgresStore({ pool, table, time });
      await store.ready();
      return {
        store: patient(store),
        async advance(ms) {
          await database.advance(ms);
          time.advance(ms);
        },
        stepBack: (ms) => database.advance(-ms),
      };
    },
  });
  // The others need a server that hangs, and so the real time.
  test.each(cases.filter(({ alone }) => !alone))('$name', keepsPromise);
});
