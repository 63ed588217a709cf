// Sends requests by the clock, whether earlier ones are answered or not, as many independent clients do.
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** An answer that comes later is of no use to the client. */
export const DEADLINE_MS = 500;
/** After this time a client gives up. */
const PATIENCE_MS = 2000;

const KINDS = {
  critical: { method: 'POST', path: '/checkout' },
  ordinary: { method: 'GET', path: '/items' },
  batch: { method: 'GET', path: '/report' },
};

/** A fifth of the requests is critical, half of them are ordinary, and the others can wait. */
function randomKind() {
  const place = Math.random();
  if (place < 0.2) return 'critical';
  return place < 0.7 ? 'ordinary' : 'batch';
}

/**
 * @typedef {{ atMs: number, kind: keyof typeof KINDS, status: number, ms: number }} Answer `status` is 0 when the client gave
 *   up.
 */

/**
 * Offers traffic for a time, and returns all answers.
 *
 * @param {string} url
 * @param {{ seconds: number, rate: (second: number) => number, clients?: number }} load
 * @returns {Promise<Answer[]>}
 */
export async function offer(url, { seconds, rate, clients = 1000 }) {
  // Each client has its own connections: one that is waiting for an answer must not delay or help another.
  const agents = Array.from({ length: clients }, () => new Agent({ keepAlive: true }));
  const answers = [];
  const beganMs = performance.now();
  let nextMs = 0;
  while (nextMs < seconds * 1000) {
    const nowMs = performance.now() - beganMs;
    for (; nextMs <= nowMs && nextMs < seconds * 1000; nextMs += gapMs(rate(nextMs / 1000))) {
      const client = Math.floor(Math.random() * clients);
      const sent = { atMs: nextMs, lateMs: nowMs - nextMs, client: `client-${client}` };
      answers.push(send(url, agents[client], sent));
    }
    await delay(1);
  }
  const all = await Promise.all(answers);
  for (const agent of agents) agent.destroy();
  return all;
}

/** Independent clients come at random: the time between two requests is distributed exponentially. */
const gapMs = (/** @type {number} */ perSecond) => (-Math.log(1 - Math.random()) * 1000) / perSecond;

/** Measures how many requests a second a server answers that always has the next one waiting. */
export async function capacityOf(/** @type {string} */ url, seconds = 3) {
  const agent = new Agent({ keepAlive: true });
  const endMs = performance.now() + seconds * 1000;
  let answered = 0;
  const client = async () => {
    while (performance.now() < endMs) {
      await send(url, agent, { atMs: 0, lateMs: 0, client: `client-${answered % 1000}` });
      answered++;
    }
  };
  await Promise.all(Array.from({ length: 8 }, client));
  agent.destroy();
  return answered / seconds;
}

/**
 * @param {string} url
 * @param {Agent | undefined} agent
 * @param {{ atMs: number, lateMs: number, client: string }} sent `lateMs`: counted as a part of the answer's time.
 * @returns {Promise<Answer>}
 */
function send(url, agent, { atMs, lateMs, client }) {
  const kind = randomKind();
  const { method, path } = KINDS[kind];
  const sentMs = performance.now() - lateMs;
  return new Promise((resolve) => {
    const end = (/** @type {number} */ status) => {
      clearTimeout(timer);
      resolve({ atMs, kind, status, ms: performance.now() - sentMs });
    };
    const req = request(url + path, { agent, method, headers: { 'X-Api-Key': client } }, (res) => {
      res.resume().on('end', () => end(res.statusCode ?? 0));
    });
    const timer = setTimeout(() => req.destroy(), PATIENCE_MS);
    req.on('error', () => end(0));
    // Without an error, when the client gives up in the middle of the answer.
    req.on('close', () => end(0));
    req.end();
  });
}
