import { expect, test } from 'vitest';
import { endTimersWithRequest } from '../../src/runtime/request-timers.ts';
import { systemTime } from '../../src/time/system-time.ts';

test.each([
  ['a Worker', { navigator: { userAgent: 'Cloudflare-Workers' } }, true],
  ['a Worker of before 2022, without a navigator', { WebSocketPair: function WebSocketPair() {} }, true],
  ['the Edge runtime', { EdgeRuntime: 'vercel' }, true],
  ['Node', { navigator: { userAgent: 'Node.js/24' } }, false],
  ['Bun', { navigator: { userAgent: 'Bun/1.3.0' } }, false],
  ['Deno', { navigator: { userAgent: 'Deno/2.5.0' } }, false],
  ['a browser', { navigator: { userAgent: 'Mozilla/5.0' } }, false],
  ['a runtime without any of it', {}, false],
])('whether timers end with their request: %s', (_runtime, platform, expected) => {
  expect(endTimersWithRequest(platform)).toBe(expected);
});

test('the process here has timers of its own', () => expect(systemTime.timersEndWithRequest).toBe(false));
