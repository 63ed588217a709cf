import { spawnSync } from 'node:child_process';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { coresCanBeChosen } from '../harness/processes.mjs';

/**
 * The store of rate-limiter-flexible for a cluster: this process becomes the primary, which decides, and a worker asks it
 * by the messages of Node.
 *
 * @param {{ ids: number, warmUp: number, decisions: number, inFlight: number }} turn
 * @param {number} core The processor core of the primary; the worker has that of this process.
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
export async function flexibleCluster(turn, core) {
  // It listens to the messages of workers from now on.
  // oxlint-disable-next-line no-new
  new RateLimiterClusterMaster();
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('cluster-worker.mjs', import.meta.url)),
    args: [JSON.stringify(turn)],
    execArgv: [],
  });
  const worker = cluster.fork();
  process.once('exit', () => worker.process.kill());
  // After the fork: the worker keeps the core.
  if (coresCanBeChosen) spawnSync('taskset', ['-acp', `${core}`, `${process.pid}`]);
  await messageOf(worker, (message) => message === 'ready');
  return async () => {
    worker.send('measure');
    const { figures } = await messageOf(worker, (message) => typeof message === 'object' && 'figures' in message);
    return figures;
  };
}

/**
 * Waits for a message of ours: the library sends others.
 *
 * @param {import('node:cluster').Worker} worker
 * @param {(message: any) => boolean} isOurs
 * @returns {Promise<any>}
 */
function messageOf(worker, isOurs) {
  return new Promise((resolve) => {
    const look = (/** @type {unknown} */ message) => {
      if (!isOurs(message)) return;
      worker.off('message', look);
      resolve(message);
    };
    worker.on('message', look);
  });
}
