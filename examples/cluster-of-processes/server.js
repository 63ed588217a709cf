import cluster from 'node:cluster';
import { keyFor } from './keys.js';
import { LEASED, PROCESSES } from './processes.js';

// The primary only starts the others: they share its port, and the limits in Redis.
cluster.setupPrimary({ exec: new URL('worker.js', import.meta.url).pathname });
for (let i = 0; i < PROCESSES; i++) cluster.fork();

let listening = 0;
cluster.on('listening', (_worker, { port }) => {
  listening += 1;
  if (listening < PROCESSES) return;
  const url = `http://127.0.0.1:${port}`;
  console.log(`Listening on ${url}
${PROCESSES} processes share one limit: 100 requests at once and 10 a second, for each API key.
${LEASED ? 'They decide by leases, in their own memory.' : 'Redis decides each request; LEASED=1 node server.js decides by leases.'}

One request; ask again, and another process may answer:
  curl -i -H "X-API-Key: ${keyFor('demo')}" ${url}/
400 requests at once, and who let how many through:
  ${LEASED ? 'LEASED=1 ' : ''}node flood.js ${url}
What Redis holds of it:
  redis-cli --scan --pattern 'sluice:*'
Stop Redis meanwhile (redis-cli shutdown), and flood again: each process then lets its share through.
`);
});

cluster.on('exit', (_worker, code) => {
  if (code === 0) return;
  process.exitCode = 1;
  for (const worker of Object.values(cluster.workers ?? {})) worker?.kill();
});

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.once(signal, () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
  });
}
