import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { clientNetwork, createLimiter, memoryStore, type LimitDefinition, type Time } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';
import { describe, expect, it } from 'vitest';
import { replayed } from './decisions.ts';
import { files, seededRandom } from './logs.ts';

const CONNECTIONS = 20;
/** Tokens come back while the server runs, and few of them while a busy machine takes ten times as long. */
const NUMBERS = { count: 4, period: '1s', burst: 25 } as const;

/** Runs a server with a limiter, sends it requests, and returns its log: a line for each decision, with the time of the decision. */
async function recorded(count: number): Promise<{ log: string; allowed: boolean[] }> {
  const [lines, allowed]: [string[], boolean[]] = [[], []];
  // The log needs the time by which the store has decided, not the one when the line is written.
  let decidedAt = 0;
  const time: Time = { ...systemTime, nowMicros: () => (decidedAt = systemTime.nowMicros()) };
  const limits: Record<string, LimitDefinition> = { PerClient: { key: clientNetwork(), ...NUMBERS } };
  const limiter = createLimiter({ limits, store: memoryStore({ time }), log: false });
  const startMicros = Date.UTC(2026, 10, 23) * 1000;
  const server = createServer((request, response) => {
    const client = String(request.headers['x-forwarded-for']);
    const decision = limiter.spendSync([{ limit: 'PerClient', id: client }]);
    response.statusCode = decision.allowed ? 200 : 429;
    lines.push(
      JSON.stringify({
        time: startMicros + decidedAt,
        req: {
          method: request.method,
          url: request.url,
          headers: request.headers,
          remoteAddress: request.socket.remoteAddress,
        },
        res: { statusCode: response.statusCode },
      }),
    );
    allowed.push(decision.allowed);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, i) => sent(server.address() as AddressInfo, count / CONNECTIONS, i)),
  );
  server.close();
  await limiter.close();
  return { log: `${lines.join('\n')}\n`, allowed };
}

/** Sends requests of random clients over one connection, a hundred at a time, and waits for their responses. */
async function sent({ port }: AddressInfo, count: number, seed: number): Promise<void> {
  const [socket, random] = [connect(port, '127.0.0.1'), seededRandom(seed)];
  for (let done = 0; done < count; done += 100) {
    const requests = Array.from({ length: 100 }, () => {
      return `GET /p/${Math.floor(random() * 50)} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.${Math.floor(random() ** 2 * 200)}\r\n\r\n`;
    });
    socket.write(requests.join(''));
    // oxlint-disable-next-line no-await-in-loop -- the next hundred come when these are answered
    await answered(socket, 100);
  }
  socket.end();
}

function answered(socket: ReturnType<typeof connect>, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let [text, seen] = ['', 0];
    const read = (chunk: Buffer): void => {
      text += chunk.toString('latin1');
      for (let at = text.indexOf('\r\n\r\n'); at !== -1; at = text.indexOf('\r\n\r\n')) {
        seen++;
        text = text.slice(at + 4);
      }
      if (seen < count) return;
      socket.off('data', read).off('error', reject);
      resolve();
    };
    socket.on('data', read);
    socket.once('error', reject);
  });
}

/** The promise that a replay decides as the server did, for a number of requests. */
export function recordedSuite(count: number): void {
  describe(`${count} requests of a running server`, () => {
    it('are replayed with the same decisions, one by one', async () => {
      const { log, allowed } = await recorded(count);
      const written = files({
        limits: `PerClient: { count: ${NUMBERS.count}, period: ${NUMBERS.period}, burst: ${NUMBERS.burst}, idFormat: clientNetwork }\n`,
        log,
      });
      const { decisions, report } = await replayed(written, { trustedProxies: ['loopback'] });
      expect(report.totals.requests).toBe(count);
      expect(allowed.filter((each) => each).length).toBeGreaterThan(count / 20);
      expect(allowed.filter((each) => !each).length).toBeGreaterThan(count / 20);
      expect(allowed.findIndex((each, i) => each !== decisions[i]?.allowed)).toBe(-1);
      expect(decisions).toHaveLength(count);
    });
  });
}
