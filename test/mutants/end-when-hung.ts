// Ends a process of tests whose event loop does not run for long: no timeout ends a loop without an end.
import { Worker } from 'node:worker_threads';

const HUNG_MS = 20_000;
const beats = new Int32Array(new SharedArrayBuffer(4));
setInterval(() => Atomics.add(beats, 0, 1), 100).unref();
const watcher = `
  const { workerData: [beats, hungMs] } = require('node:worker_threads');
  let before = -1;
  setInterval(() => {
    const now = Atomics.load(beats, 0);
    if (now === before) process.kill(process.pid, 'SIGKILL');
    before = now;
  }, hungMs);
`;
new Worker(watcher, { eval: true, workerData: [beats, HUNG_MS] }).unref();
