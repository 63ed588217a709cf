import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { systemTime } from '@sluice/core/kit';
import { expect, test } from 'vitest';
import { envoyOf } from '../service/envoy.ts';
import { served } from '../service/served.ts';
import { randomFrom } from '../service/random.ts';
import { FixedWindows, type WindowDescriptor } from './fixed-window.ts';
import { sized } from '../sized.ts';

const MAIN = fileURLToPath(new URL('../../tools/cli/dist/main.js', import.meta.url));
const REQUESTS = Number(process.env['SLUICE_RLS_REQUESTS'] ?? sized(2000, 4000));
/** Requests that are sent at one instant, in their order. */
const AT_ONCE = 40;

const CONFIGURATION: readonly WindowDescriptor[] = [
  { key: 'ip', rate_limit: { unit: 'minute', requests_per_unit: 7 } },
  { key: 'ip', value: 'a', rate_limit: { unit: 'second', requests_per_unit: 2 } },
  { key: 'ip', value: 'free', rate_limit: { unlimited: true } },
  { key: 'ip', value: 'nothing' },
  { key: 'ip', value: 'x*', rate_limit: { unit: 'hour', requests_per_unit: 20 }, share_threshold: true },
  { key: 'ip', value: 'y*', rate_limit: { unit: 'minute', requests_per_unit: 3 } },
  { key: 'ip', value: 'a*:*c', rate_limit: { unit: 'minute', requests_per_unit: 6 } },
  { key: 'tried', rate_limit: { unit: 'day', requests_per_unit: 1 }, shadow_mode: true },
  { key: 'shut', rate_limit: { unit: 'day', requests_per_unit: 0 } },
  {
    key: 'path',
    rate_limit: { unit: 'day', requests_per_unit: 30 },
    descriptors: [
      { key: 'user', rate_limit: { unit: 'hour', requests_per_unit: 5 } },
      { key: 'user', value: 'ada', rate_limit: { unit: 'minute', requests_per_unit: 4 } },
    ],
  },
  {
    key: 'path',
    value: '/login',
    descriptors: [{ key: 'user', rate_limit: { unit: 'second', requests_per_unit: 1 } }],
  },
];

test(
  'imported windows answer as envoyproxy/ratelimit does, for each request of one hit',
  { timeout: 3_600_000 },
  async () => {
    const text = JSON.stringify({ domain: 'ingress', descriptors: CONFIGURATION });
    const output = execFileSync(process.execPath, [MAIN, 'import', 'envoy', '-', '--as', 'window', '--json'], {
      input: text,
    });
    const { limits, tables } = JSON.parse(String(output)) as { limits: unknown; tables: unknown };
    const { servers, time } = await served(limits, tables, {}, { servers: systemTime });
    const envoy = envoyOf(servers.ports.grpc);
    const windows = new FixedWindows(CONFIGURATION);
    const random = randomFrom(31);
    const denied = { window: 0, sluice: 0 };
    for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
      time.advance(random.oneOf([0, 1, 37, 500, 2000, 61_000, 1_800_000, 9_000_000]));
      const seconds = Math.floor(time.wallNow() / 1000);
      const requests = Array.from({ length: AT_ONCE }, () => random.oneOf(REQUESTED)(random));
      const expected = requests.map((entries) => windows.allows(entries, seconds));
      // oxlint-disable-next-line no-await-in-loop -- one instant after the other
      const answers = await Promise.all(
        requests.map((entries) =>
          envoy.ask({ domain: 'ingress', descriptors: [{ entries: entries.map(([key, value]) => ({ key, value })) }] }),
        ),
      );
      const allowed = answers.map(({ overall_code }) => overall_code === 'OK');
      expect({ seconds, requests, allowed }).toEqual({ seconds, requests, allowed: expected });
      denied.window += expected.filter((each) => !each).length;
      denied.sluice += allowed.filter((each) => !each).length;
    }
    expect(denied.sluice).toBe(denied.window);
    expect(denied.window).toBeGreaterThan(REQUESTS / 20);
  },
);

type Random = ReturnType<typeof randomFrom>;
type Entries = readonly (readonly [string, string])[];

const VALUES = ['', 'a', 'b', 'free', 'nothing', 'x1', 'x2', 'x', 'y1', 'y2', 'ü=&%', 'a.b:c', 'a:c', 'a:b'];
const REQUESTED: readonly ((random: Random) => Entries)[] = [
  (random) => [['ip', random.oneOf(VALUES)]],
  (random) => [['ip', random.oneOf(VALUES)]],
  (random) => [[random.oneOf(['tried', 'shut', 'unknown']), random.oneOf(VALUES)]],
  (random) => [['path', random.oneOf(['/', '/login', ''])]],
  (random) => [
    ['path', random.oneOf(['/', '/login'])],
    ['user', random.oneOf(['ada', 'bob', ''])],
  ],
  (random) => [
    ['path', '/'],
    ['user', 'ada'],
    ['more', random.oneOf(VALUES)],
  ],
];
