import { postgresStore } from '@sluice/postgres';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Pool } from 'pg';
import { expect, test } from 'vitest';
import { postgresFolder } from '../../../scripts/postgres.mjs';
import { postgresServer } from '../../postgres/postgres-server.ts';
import { BLOCKS_TEXT, USED, useAndMakeAgain } from './blocks.ts';
import { countsIn, EXPIRY_MS, FOUND, LOOK } from './buckets.mjs';
import { samplePath } from './sample.ts';

test('a database of the version before, restored from its dump, is used with its buckets, and keeps its functions', async () => {
  const server = await postgresServer();
  await server.query('create database golden');
  const url = server.url.replace(/\w+$/, 'golden');
  execFileSync(join(postgresFolder(), 'psql'), [
    '--quiet',
    '-v',
    'ON_ERROR_STOP=1',
    '-f',
    samplePath('postgres.sql'),
    url,
  ]);
  const store = postgresStore({ connectionString: url });
  await store.ready();
  // The slots of the sample have expired since, and are renewed as a process does that was not gone.
  const slots = { limit: 'Slots', id: 'a', slots: true, expiryMs: EXPIRY_MS } as const;
  await store.run({
    kind: 'renew',
    batch: [
      { ...slots, holder: 'h1', first: 1, count: 2 },
      { ...slots, holder: 'h2', first: 4, count: 1 },
    ],
  });
  expect(countsIn(await store.run(LOOK))).toEqual(FOUND);
  await store.migrate({ dropOld: true });
  expect(countsIn(await store.run(LOOK))).toEqual(FOUND);
  await store.close();
});

test('blocks of the version before are read, and written on', async () => {
  const server = await postgresServer();
  await server.query('create database blocked');
  const url = server.url.replace(/\w+$/, 'blocked');
  const pool = new Pool({ connectionString: url });
  await pool.query(
    'create table sluice_blocks (single boolean primary key check (single), revision text not null, text text not null)',
  );
  await pool.query('insert into sluice_blocks values (true, $1, $2)', [BLOCKS_TEXT.slice(0, 16), BLOCKS_TEXT]);
  const store = postgresStore({ connectionString: url, migrate: true });
  await store.ready();
  const used = await useAndMakeAgain(store.blocks!, async () => {
    const { rows } = await pool.query('select revision, text from sluice_blocks');
    return rows[0] as { revision: string; text: string };
  });
  expect(used).toEqual(USED);
  await store.close();
  await pool.end();
});
