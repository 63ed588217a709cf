import { spawn } from 'node:child_process';
import { Redis } from 'ioredis';
import { freePort } from '../harness/free-port.mjs';
import { coresCanBeChosen } from '../harness/processes.mjs';
import { redisServerProgram } from '../../scripts/redis.mjs';

/** A Redis of our own on a free port, that keeps nothing on disk. It ends with this process. */
export class RedisServer {
  #port;

  /**
   * @param {import('node:child_process').ChildProcess} child
   * @param {number} port
   */
  constructor(child, port) {
    this.#port = port;
    process.on('exit', () => child.kill('SIGKILL'));
  }

  /** @param {{ core: number }} options The processor core that it should have, where cores can be chosen. */
  static async start({ core }) {
    const port = await freePort();
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const program = redisServerProgram();
    const child = coresCanBeChosen
      ? spawn('taskset', ['-c', String(core), program, ...args], { stdio: 'ignore' })
      : spawn(program, args, { stdio: 'ignore' });
    const server = new RedisServer(child, port);
    const client = server.connect();
    await client.ping();
    client.disconnect();
    return server;
  }

  /** Where other processes find it. */
  get port() {
    return this.#port;
  }

  connect() {
    const client = new Redis({ port: this.#port, host: '127.0.0.1', maxRetriesPerRequest: null });
    // It is refused until the server listens, and tries again.
    return client.on('error', () => undefined);
  }
}
