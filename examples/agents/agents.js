// Starts a strict provider, and eight workers that call it with one key. Says what the provider has seen.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { ALLOWED, startProvider } from './provider.js';

const WORKERS = Number(process.env.WORKERS ?? 8);
const CALLS = Number(process.env.CALLS ?? 12);

const { server, seen } = await startProvider();
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
const env = { ...process.env, PROVIDER_URL: `http://127.0.0.1:${port}`, CALLS: String(CALLS) };

const workers = Array.from({ length: WORKERS }, () => fork(new URL('worker.js', import.meta.url), { env }));
const ends = workers.map(async (worker) => {
  const [code] = await once(worker, 'exit');
  if (code !== 0) process.exitCode = 1;
});
// They begin together when all are connected to Redis.
await Promise.all(workers.map((worker) => Promise.race([once(worker, 'message'), once(worker, 'exit')])));
const startMs = performance.now();
for (const worker of workers) if (worker.connected) worker.send('begin');
await Promise.all(ends);
// As it is printed.
const seconds = Math.ceil(100 * ((performance.now() - startMs) / 1000)) / 100;
server.close();

const { answered, denied } = seen;
const { burst, perSecond } = ALLOWED;
console.log(
  `${WORKERS} workers made ${WORKERS * CALLS} calls with one key in ${seconds.toFixed(2)} s: ${answered} answered, ${denied} denied.`,
);
console.log(
  `The provider allows ${burst} at once and ${perSecond} a second: at most ${burst + Math.floor(perSecond * seconds)}.`,
);
