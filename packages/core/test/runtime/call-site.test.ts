import { afterEach, expect, test, vi } from 'vitest';
import { callSiteOf } from '../../src/runtime/call-site.ts';

afterEach(() => vi.restoreAllMocks());

/** Lets stack traces have these lines. */
const traceIs = (stack: unknown) =>
  vi.spyOn(Error, 'captureStackTrace').mockImplementation((target) => Object.assign(target, { stack }));

test('the place of a call is a line of the program', () => {
  expect((() => callSiteOf(callSiteOf))()).toMatch(/^at .*call-site\.test\.ts:\d+:\d+$/);
});

test.each([
  ['our own files are left out, installed', '/srv/node_modules/@sluice/express/dist/index.js:1:2'],
  ['or of a clone', '/home/sluice/packages/core/src/limiter/create-limiter.ts:1:2'],
  ['also on Windows', 'C:\\srv\\node_modules\\@sluice\\core\\dist\\index.js:1:2'],
])('%s', (_what, ours) => {
  traceIs(
    `Error\n    at make (${ours})\n    at async Object.<anonymous> (/srv/app (1)/limits.js:12:24)\n    at node:x:1:1`,
  );
  expect(callSiteOf(callSiteOf)).toBe('at /srv/app (1)/limits.js:12:24');
});

test('a line without the name of a function has a place, too', () => {
  traceIs('Error\n    at file:///srv/limits.js:12:24');
  expect(callSiteOf(callSiteOf)).toBe('at file:///srv/limits.js:12:24');
});

test('where all lines are ours, the first one is taken', () => {
  traceIs('Error\n    at a (/x/@sluice/a.js:1:1)\n    at b (/x/@sluice/b.js:1:1)');
  expect(callSiteOf(callSiteOf)).toBe('at /x/@sluice/a.js:1:1');
});

test.each([
  ['a runtime without stack traces', undefined],
  ['a program that replaced them', [{}]],
  ['none at all', 'Error'],
])('in %s the place is unknown', (_what, stack) => {
  traceIs(stack);
  expect(callSiteOf(callSiteOf)).toBe('at an unknown place');
});
