import { setTimeout as delay } from 'node:timers/promises';
import { VisitOrder } from '../ids.mjs';
import { Connection } from './connection.mjs';
import { callTemplate, idOf } from './message.mjs';

/** How many calls of a connection may be in progress. A server ends a connection with more than it allows. */
const MOST_IN_PROGRESS = 1000;

/** The calls of one connection, from when they are due until they are answered. */
class Queue {
  /** When calls that are not sent yet were due. @type {number[]} */
  #waiting = [];
  /** When calls were due, by the numbers of their streams. @type {Map<number, number>} */
  #inProgress = new Map();

  /** @param {number} dueMs */
  add(dueMs) {
    this.#waiting.push(dueMs);
  }

  /** How many calls may be sent now. */
  ready() {
    return Math.min(this.#waiting.length, MOST_IN_PROGRESS - this.#inProgress.size);
  }

  /**
   * @param {number} first The stream of the first.
   * @param {number} count
   */
  sent(first, count) {
    this.#waiting.splice(0, count).forEach((dueMs, i) => this.#inProgress.set(first + 2 * i, dueMs));
  }

  /**
   * @param {number} stream
   * @returns {number | undefined} when it was due
   */
  answered(stream) {
    const dueMs = this.#inProgress.get(stream);
    this.#inProgress.delete(stream);
    return dueMs;
  }
}

/** Calls over a few connections, as the workers of one Envoy make them. Every answer must allow its request. */
export class Load {
  #connections;
  #order;
  #answers = 0;
  #sent = 0;
  /** What is done about answered calls of a connection. @type {(connection: number, streams: readonly number[]) => void} */
  #answered = () => undefined;

  /** @param {{ port: number, connections: number, ids: number }} options */
  constructor({ port, connections, ids }) {
    const template = callTemplate();
    this.#order = new VisitOrder(ids);
    this.#connections = Array.from(
      { length: connections },
      (_, i) =>
        new Connection({
          port,
          template,
          answered: (streams) => {
            this.#answers += streams.length;
            this.#answered(i, streams);
          },
        }),
    );
  }

  /** How many answers came so far. */
  get answers() {
    return this.#answers;
  }

  /**
   * Keeps so many calls in progress on each connection for so long, and waits for the last answers.
   *
   * @param {number} lastsMs
   * @param {number} inProgress
   */
  async busy(lastsMs, inProgress) {
    const endMs = performance.now() + lastsMs;
    await new Promise((resolve) => {
      this.#answered = (i, { length }) => {
        if (performance.now() < endMs) this.#call(i, length);
        else if (this.#answers === this.#sent) resolve(undefined);
      };
      for (const i of this.#connections.keys()) this.#call(i, inProgress);
    });
  }

  /**
   * Makes calls at a rate for so long, whether or not the server keeps up, and waits for the last answers.
   *
   * @param {number} lastsMs
   * @param {number} perSecond
   * @returns {Promise<number[]>} how long each answer took in milliseconds, from when its call was due
   */
  async atRate(lastsMs, perSecond) {
    const queues = this.#connections.map(() => new Queue());
    /** @type {number[]} */
    const tookMs = [];
    const send = (/** @type {number} */ i) => {
      const queue = /** @type {Queue} */ (queues[i]);
      const count = queue.ready();
      if (count > 0) queue.sent(this.#call(i, count), count);
    };
    this.#answered = (i, streams) => {
      const nowMs = performance.now();
      for (const stream of streams) tookMs.push(nowMs - Number(queues[i]?.answered(stream)));
      send(i);
    };
    const startMs = performance.now();
    let due = 0;
    for (let elapsedMs = 0; elapsedMs < lastsMs; elapsedMs = performance.now() - startMs) {
      const dueNow = Math.floor((elapsedMs * perSecond) / 1000);
      for (; due < dueNow; due++) queues[due % queues.length]?.add(startMs + (1000 * due) / perSecond);
      queues.forEach((_, i) => send(i));
      // oxlint-disable-next-line no-await-in-loop
      await delay(1);
    }
    // oxlint-disable-next-line no-await-in-loop
    while (tookMs.length < due) await delay(1);
    return tookMs;
  }

  /**
   * @param {number} connection
   * @param {number} calls
   */
  #call(connection, calls) {
    this.#sent += calls;
    const ids = Array.from(this.#order.next(calls), idOf);
    return /** @type {Connection} */ (this.#connections[connection]).call(ids);
  }
}
