// Writes samples of what the packages beside it store: `node make.mjs FOLDER REDIS_URL POSTGRES_URL`. main.ts copies it to the
// packages of the version before.
import { memoryStore } from '@sluice/core';
import { INSTRUMENTS } from '@sluice/core/metrics';
import { FakeTime } from '@sluice/core/testing';
import { hostStore } from '@sluice/host';
import { postgresStore } from '@sluice/postgres';
import { redisStore } from '@sluice/redis';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { copyFileSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MADE_MS, MAKING, SENT } from './buckets.mjs';

const [folder = '', redisUrl = '', postgresUrl = ''] = process.argv.slice(2);
const time = new FakeTime(MADE_MS);
const sockets = mkdtempSync(join(tmpdir(), 'sluice-golden-'));

/** @param {import('@sluice/core').Store} store */
async function make(store) {
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (const operation of MAKING) await store.run(operation, 10_000);
}

async function writeDump() {
  const store = memoryStore({ time });
  await make(store);
  // In the versions before it was a method.
  const dump =
    /** @type {{ dump?: () => Uint8Array }} */ (store).dump?.() ?? (await import('@sluice/core/dump')).dump(store);
  writeFileSync(join(folder, 'memory.dump'), dump);
}

async function writeHandover() {
  const socket = join(sockets, 'handed.sock');
  const store = hostStore({ socket, time, log: false });
  await make(store);
  await store.close();
  copyFileSync(`${socket}.handover`, join(folder, 'host.handover'));
}

/** Serves in the place of a host store, and records what a client sends. */
async function writeClient() {
  const socket = join(sockets, 'asked.sock');
  const chunks = /** @type {Buffer[]} */ ([]);
  const server = createServer((client) => {
    client.on('data', (chunk) => chunks.push(chunk));
    const hello = Buffer.alloc(32);
    hello.write('sluice\r\n', 'latin1');
    hello.writeUInt32LE(HOST_VERSION, 8);
    client.write(hello);
  });
  await new Promise((resolve) => void server.listen(`${socket}.1`, () => resolve(undefined)));
  const store = hostStore({ socket, log: false });
  await store.ready();
  // Nobody answers.
  await Promise.allSettled(SENT.map((operation) => store.run(/** @type {any} */ (operation), 200)));
  writeFileSync(join(folder, 'host.client'), Buffer.concat(chunks));
  server.close();
  await store.close();
}
const HOST_VERSION = 4;

async function writeRedis() {
  const store = redisStore({ url: redisUrl, log: false });
  await store.ready();
  await make(store);
  const redis = new Redis(redisUrl);
  const keys = (await redis.keys('*')).toSorted();
  const [seconds] = await redis.time();
  const values = await Promise.all(
    keys.map(async (key) =>
      (await redis.type(key)) === 'string'
        ? { key, value: await redis.get(key) }
        : { key, members: await redis.zrange(key, 0, '-1', 'WITHSCORES') },
    ),
  );
  writeFileSync(
    join(folder, 'redis.json'),
    `${JSON.stringify({ madeSeconds: Number(seconds), values }, undefined, 2)}\n`,
  );
  await redis.quit();
  await store.close();
}

async function makePostgres() {
  const pool = new Pool({ connectionString: postgresUrl });
  const store = postgresStore({ pool });
  await store.ready();
  await make(store);
  await store.close();
  await pool.end();
}

function writeMetrics() {
  const metrics = INSTRUMENTS.map(({ name, type, unit, attributes, bounds }) => ({
    name,
    type,
    unit,
    attributes,
    bounds,
  }));
  writeFileSync(join(folder, 'metrics.json'), `${JSON.stringify(metrics, undefined, 2)}\n`);
}

await writeDump();
await writeHandover();
await writeClient();
await writeRedis();
await makePostgres();
writeMetrics();
process.exit(0);
