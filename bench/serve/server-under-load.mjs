import { once } from 'node:events';
import { forked } from '../harness/processes.mjs';
import { wireBytes } from '../harness/wire.mjs';
import { Load } from './load.mjs';

const SERVER_CORE = 0;
export const LOAD_CORE = 1;
/** As an Envoy with so many workers. */
export const CONNECTIONS = 4;
export const IDS = 10_000;

/**
 * What a server did for some time.
 *
 * @typedef {object} Work
 * @property {number} answers
 * @property {number} seconds
 * @property {number} serverCpuMicros
 * @property {number} loadCpuMicros
 * @property {number} redisCalls
 * @property {number} redisWrites
 * @property {number} wireBytes
 */

/** A server in a process of its own, and the load of this process. */
export class ServerUnderLoad {
  #process;
  load;

  /**
   * @param {import('node:child_process').ChildProcess} child
   * @param {{ port: number, ids: number }} options
   */
  constructor(child, { port, ids }) {
    this.#process = child;
    this.load = new Load({ port, connections: CONNECTIONS, ids });
  }

  /**
   * @param {string} contender
   * @param {{ redisCore?: number, ids?: number }} [options] With `redisCore`, it leases from a Redis on that core.
   */
  static async start(contender, { redisCore, ids = IDS } = {}) {
    const words = redisCore === undefined ? [contender] : [contender, String(redisCore)];
    const child = forked(new URL('server.mjs', import.meta.url), words, { core: SERVER_CORE });
    child.stderr?.pipe(process.stderr);
    const [port] = /** @type {[number]} */ (await once(child, 'message'));
    return new ServerUnderLoad(child, { port, ids });
  }

  /**
   * @param {() => Promise<unknown>} work
   * @returns {Promise<Work>}
   */
  async during(work) {
    const before = await this.#sample();
    const startMs = performance.now();
    await work();
    const seconds = (performance.now() - startMs) / 1000;
    const after = await this.#sample();
    return {
      seconds,
      answers: after.answers - before.answers,
      serverCpuMicros: after.cpuMicros - before.cpuMicros,
      loadCpuMicros: after.loadCpuMicros - before.loadCpuMicros,
      redisCalls: after.redisCalls - before.redisCalls,
      redisWrites: after.redisWrites - before.redisWrites,
      wireBytes: after.wireBytes - before.wireBytes,
    };
  }

  async #sample() {
    const { user, system } = process.cpuUsage();
    this.#process.send('sample');
    const [ofServer] = /** @type {[{ cpuMicros: number, redisCalls: number, redisWrites: number }]} */ (
      await once(this.#process, 'message')
    );
    return { ...ofServer, loadCpuMicros: user + system, answers: this.load.answers, wireBytes: wireBytes() };
  }
}
