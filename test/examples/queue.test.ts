import { afterEach, beforeEach, expect, it } from 'vitest';
import { ExampleServer } from './example-server.ts';

const T = 100;
/** More than begin while even a busy machine reads them. */
const SENT = 90;

let server: ExampleServer;

beforeEach(async () => {
  server = await ExampleServer.start('queue');
});
afterEach(() => server.stop());

interface Export {
  readonly status: number;
  readonly startedMs: number;
  readonly delayMs: number;
}

async function exported(): Promise<Export> {
  const response = await fetch(`${server.url}/export`);
  const body = response.status === 200 ? ((await response.json()) as Omit<Export, 'status'>) : undefined;
  return { status: response.status, startedMs: NaN, delayMs: NaN, ...body };
}

it('starts an export every 100 ms, over real sockets, and denies requests that would wait for more than two seconds', async () => {
  const sentMs = performance.timeOrigin + performance.now();
  const answers = await Promise.all(Array.from({ length: SENT }, exported));
  const allowed = answers.filter(({ status }) => status === 200).toSorted((a, b) => a.startedMs - b.startedMs);
  expect(answers.filter(({ status }) => status === 429).length + allowed.length).toBe(SENT);
  // Requests that arrive some seconds later may fit too.
  expect(allowed.length).toBeGreaterThanOrEqual(21);
  expect(allowed.length).toBeLessThan(SENT);
  const lateMs = allowed.map(({ startedMs }, i) => startedMs - sentMs - i * T);
  const gapsMs = allowed.slice(1).map(({ startedMs }, i) => startedMs - allowed[i]!.startedMs);
  console.log(`gaps of ${Math.min(...gapsMs).toFixed(2)} to ${Math.max(...gapsMs).toFixed(2)} ms`);
  // Two processes read the clock.
  expect(Math.min(...lateMs)).toBeGreaterThan(-20);
  expect(allowed.every(({ delayMs }, i) => i === 0 || delayMs > allowed[i - 1]!.delayMs - 2 * T)).toBe(true);
  expect(Math.max(...allowed.map(({ delayMs }) => delayMs))).toBeLessThanOrEqual(2000);
});

it('answers waiting requests with 503 when it is stopped, and exits', async () => {
  const exports = Array.from({ length: 20 }, exported);
  // The server accepts this connection after all others. Connections that are not accepted yet would be reset.
  await fetch(`${server.url}/none`);
  expect(await server.stop()).toBe(0);
  const statuses = (await Promise.all(exports)).map(({ status }) => status);
  expect(statuses).toContain(503);
});
