import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../redis/servers/until.ts';
import { PROXIES } from './proxies.ts';
import { Site } from './site.ts';

const BURST = 3;
const REQUESTS = 30;
/** Not all of its spellings are known, so that it is under all rules with paths. */
const HOSTILE = '/search/a%252e%253b%2523%255c%20;x//b/./c/../d';
/** Fills the buffers of a proxy. */
const BODY = 'a'.repeat(300_000);

function rulesOf(count: number): { readonly limits: string; readonly tables: string } {
  const names = Array.from({ length: count }, (_, i) => `RequestsToRoute${i}PerClientNetwork`);
  const rules = names.map((name, i) => `{ limit: ${name}, id: address, paths: [/route${i}] }`).join(', ');
  return {
    limits: names.map((name, i) => `${name}: ${numbersOf(i === 0 ? 1000 : BURST)}\n`).join(''),
    tables: `http:\n  nginx: { accelRedirect: '@backend', limits: [${rules}] }\n  api: { limits: [${rules}] }\n`,
  };
}

function numbersOf(burst: number): string {
  return `{ burst: ${burst}, count: 1, period: 1h, idFormat: clientNetwork }`;
}

let backend: Server;
beforeAll(async () => {
  backend = createServer((_incoming, outgoing) => outgoing.end(BODY)).listen(0, '127.0.0.1');
  await once(backend, 'listening');
});
afterAll(() => backend.close());

describe.each(PROXIES)('$name', (proxy) => {
  test.each([40, 64])('a request under all of %i rules is counted and denied, as another is', async (count) => {
    const { port } = backend.address() as AddressInfo;
    const site = await Site.start(proxy, { backend: port, ...rulesOf(count) });
    try {
      await until('limits apply', async () => (await site.ask('/route0')).headers.ratelimit !== undefined);
      const answers: { readonly status: number; readonly ratelimit: unknown; readonly length: number }[] = [];
      while (answers.length < REQUESTS) {
        // oxlint-disable-next-line no-await-in-loop -- one request after the other
        const { status, headers, body } = await site.ask(HOSTILE);
        answers.push({ status, ratelimit: headers.ratelimit, length: body.length });
      }
      const passed = { status: 200, ratelimit: expect.stringMatching(/^"\w+";r=\d/), length: BODY.length };
      const denied = { status: 429, ratelimit: expect.stringMatching(/^"\w+";r=0;t=/) };
      expect(answers.slice(0, BURST)).toEqual(Array.from({ length: BURST }, () => passed));
      expect(answers.slice(BURST)).toMatchObject(Array.from({ length: REQUESTS - BURST }, () => denied));
      await expect.poll(() => site.service.output).toContain('under all rules');
    } finally {
      await site.close();
    }
  });
});
