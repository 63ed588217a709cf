import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../redis/servers/until.ts';
import { PATH_BACKENDS, type PathBackend } from './path-backends.ts';
import { pathTargets } from './path-targets.ts';
import { PROXIES } from './proxies.ts';
import { Site } from './site.ts';
import { Switch } from './switch.ts';

const TARGETS = pathTargets(Number(process.env['SLUICE_PATHS'] ?? 60));
const AT_ONCE = 8;

const limits = (count: number): string =>
  `Found: { burst: ${count}, count: ${count}, period: 1h, idFormat: clientNetwork }\n`;
const RULE = `{ limit: Found, id: address, paths: [/search/*, /files/*, /login] }`;
const TABLES = `
http:
  nginx: { accelRedirect: '@backend', caseInsensitive: true, limits: [${RULE}] }
  api: { caseInsensitive: true, limits: [${RULE}] }
`;

/** Sends a target as it is, in bytes. Returns the status; 0 for a connection that is closed without one. */
function statusOf(port: number, target: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => (answer += chunk));
    socket
      .on('error', () => undefined)
      .on('close', () => resolve(Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer)?.[1] ?? 0)));
    socket.write(`GET ${target} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`, 'latin1');
  });
}

/**
 * Returns the targets that reach a handler. On a machine that is busy, the service may answer too late, and proxies fail open
 * then: what passes by its spelling passes again.
 */
async function reaching(port: number): Promise<readonly string[]> {
  const found: string[] = [];
  const left = [...TARGETS];
  const clients = Array.from({ length: AT_ONCE }, async () => {
    for (let target = left.pop(); target !== undefined; target = left.pop()) {
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      if (await reachesAgain(port, target)) found.push(target);
    }
  });
  await Promise.all(clients);
  return found;
}

async function reachesAgain(port: number, target: string): Promise<boolean> {
  return (await statusOf(port, target)) === 200 && (await statusOf(port, target)) === 200;
}

describe.each(PROXIES)('$name', (proxy) => {
  const backends = new Map<string, PathBackend>();
  let site: Site;
  let to: Switch;
  beforeAll(async () => {
    to = await Switch.start();
    for (const [name, start] of Object.entries(PATH_BACKENDS)) {
      // oxlint-disable-next-line no-await-in-loop -- most of them start at once
      backends.set(name, await start());
    }
    site = await Site.start(proxy, { backend: to.port, limits: limits(1_000_000), tables: TABLES });
  });
  afterAll(async () => {
    await site.close();
    to.close();
    for (const backend of backends.values()) void backend.close();
  });

  const timeout = 3_600_000;
  test('no spelling of a path reaches a handler of any backend when the limit is used up', { timeout }, async () => {
    const reached = async (): Promise<Record<string, readonly string[]>> => {
      const found: Record<string, readonly string[]> = {};
      for (const [name, { port }] of backends) {
        to.switchTo(port);
        // oxlint-disable-next-line no-await-in-loop -- one backend after the other
        found[name] = await reaching(site.port);
      }
      return found;
    };
    for (const found of Object.values(await reached())) expect(found.length).toBeGreaterThan(30);
    site.writeLimits(limits(1));
    await until('the limit is used up', async () => (await statusOf(site.port, '/login')) === 429);
    expect(await reached()).toEqual(Object.fromEntries([...backends.keys()].map((name) => [name, []])));
  });
});
