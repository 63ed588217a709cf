import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { accountId, createLimiter, ipAddress } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { loadLimits } from '@sluice/config';
import { describe, expect, it } from 'vitest';
import { rejected } from '../../../packages/core/test/support/thrown.ts';
import { KEYS, LIMITS, written } from './written-files.ts';

const BOULDER_LIMITS = `NewRegistrationsPerIPAddress:
  burst: 20
  count: 20
  period: 1s
NewOrdersPerAccount:
  burst: 300
  count: 300
  period: 180m
`;

const BOULDER_OVERRIDES = `- NewOrdersPerAccount:
    burst: 300
    count: 600
    period: 180m
    ids:
      - 12345678
      - id: 87654321
        comment: agreed with their ops, ticket 4711
`;

const BOULDER_KEYS = { NewRegistrationsPerIPAddress: ipAddress(), NewOrdersPerAccount: accountId() };

/** The numbers that apply to an id after the files were loaded. */
async function numbersOf(files: Parameters<typeof written>[0], limit: string, id: string) {
  const { defaults, overrides } = written(files);
  const loaded = await loadLimits({ defaults, ...(files.overrides !== undefined && { overrides }), keys: KEYS });
  const limiter = createLimiter({ ...loaded });
  const [result] = (await limiter.check([{ limit, id }])).results;
  return result === undefined ? 'unlimited' : { burst: result.burst, count: result.count, periodMs: result.periodMs };
}

it('the files of Let’s Encrypt work unchanged', async () => {
  const { defaults, overrides } = written({ limits: BOULDER_LIMITS, overrides: BOULDER_OVERRIDES });
  const limiter = createLimiter({ ...(await loadLimits({ defaults, overrides, keys: BOULDER_KEYS })) });
  const countOf = async (id: string): Promise<number | undefined> =>
    (await limiter.check([{ limit: 'NewOrdersPerAccount', id }])).results[0]?.count;
  expect(await Promise.all(['12345678', '87654321', '1'].map(countOf))).toEqual([600, 600, 300]);
});

it('loaded limits spread into the options of createLimiter, and have a version', async () => {
  const { defaults, overrides } = written({ overrides: '[]' });
  const loaded = await loadLimits({ defaults: pathToFileURL(defaults), overrides, keys: KEYS });
  expect(Object.keys(loaded)).toEqual(['limits', 'overrides']);
  expect(loaded.version).toMatch(/^[0-9a-f]{16}$/);
  expect(Date.now() - loaded.loadedAt.getTime()).toBeLessThan(60_000);
  const again = await loadLimits({ defaults, overrides, keys: KEYS });
  expect(again.version).toBe(loaded.version);
  writeFileSync(overrides, '[ ]');
  expect((await loadLimits({ defaults, overrides, keys: KEYS })).version).not.toBe(loaded.version);
});

describe('overrides', () => {
  const overrides = `
- NewRegistrationsPerIPAddress: { count: 1, period: 1s, ids: [10.0.0.0/8] }
- NewRegistrationsPerIPAddress: { count: 2, period: 1s, ids: [10.20.0.0/16] }
- NewRegistrationsPerIPAddress: { unlimited: true, ids: [10.20.30.40] }
`;

  it.each([
    ['203.0.113.7', { burst: 20, count: 20, periodMs: 1000 }],
    ['10.1.1.1', { burst: 1, count: 1, periodMs: 1000 }],
    ['10.20.1.1', { burst: 2, count: 2, periodMs: 1000 }],
    ['10.20.30.40', 'unlimited'],
  ])(
    'apply to networks, the longest prefix first, and an override of the id itself before all: %s',
    async (id, numbers) => {
      expect(await numbersOf({ overrides }, 'NewRegistrationsPerIPAddress', id)).toEqual(numbers);
    },
  );

  it.each(['012345', '12345678901234567890', '0x1F', '1e3', '1_000', 'yes', '2026-01-01', '-5'])(
    'keep the text of an id as it is written: %s',
    async (id) => {
      const text = `- NewOrdersPerAccount: { count: 7, period: 1s, ids: [ ${id} ] }\n`;
      expect(await numbersOf({ overrides: text }, 'NewOrdersPerAccount', id)).toMatchObject({ count: 7 });
    },
  );
});

it('overrides that differ only in maxDebt do not share their numbers', async () => {
  const { defaults, overrides } = written({
    limits: LIMITS.replace('burst: 300, count: 300', 'burst: 300, count: 300, maxDebt: 100'),
    overrides: [1, 2, undefined]
      .map(
        (id) => `- NewOrdersPerAccount: { count: 600, period: 180m, ${id ? `maxDebt: ${id}00, ` : ''}ids: [${id}] }\n`,
      )
      .join(''),
  });
  const limiter = createLimiter({ ...(await loadLimits({ defaults, overrides, keys: KEYS })) });
  const resets = ['1', '2', 'undefined', 'other'].map(async (id) => {
    const [state] = await limiter.charge([{ limit: 'NewOrdersPerAccount', id, cost: 1e6 }]);
    return state?.resetAfterMs;
  });
  expect(await Promise.all(resets)).toEqual([210, 240, 210, 240].map((minutes) => minutes * 60_000));
});

it('overrides that differ only in maxWait do not share their numbers', async () => {
  const { defaults, overrides } = written({
    limits: LIMITS.replace('burst: 300, count: 300', 'burst: 1, count: 300, maxWait: 1s'),
    overrides: ['2s', '3s', undefined]
      .map(
        (wait, id) =>
          `- NewOrdersPerAccount: { count: 1, period: 1s, ${wait ? `maxWait: ${wait}, ` : ''}ids: [${id}] }\n`,
      )
      .join(''),
  });
  const time = new FakeTime();
  const limiter = createLimiter({ ...(await loadLimits({ defaults, overrides, keys: KEYS })), time });
  const delays = ['0', '1', '2'].map(async (id) => {
    let delay = 0;
    for (let i = 0; i < 6; i++) {
      delay = Math.max(delay, (await limiter.spend([{ limit: 'NewOrdersPerAccount', id }])).delayMs);
    }
    return delay;
  });
  expect(await Promise.all(delays)).toEqual([2000, 3000, 1000]);
});

it('a disabled limit does not apply to any id', async () => {
  const limits = LIMITS.replace('burst: 300', 'disabled: true, burst: 300');
  expect(await numbersOf({ limits }, 'NewOrdersPerAccount', '1')).toBe('unlimited');
});

it('a hidden limit is hidden in the limiter too', async () => {
  const { defaults } = written({ limits: LIMITS.replace('burst: 300', 'hidden: true, burst: 300') });
  const limiter = createLimiter({ ...(await loadLimits({ defaults, keys: KEYS })) });
  const { results } = await limiter.check([
    { limit: 'NewOrdersPerAccount', id: '1' },
    { limit: 'NewRegistrationsPerIPAddress', id: '203.0.113.7' },
  ]);
  expect(results.map(({ hidden }) => hidden)).toEqual([true, false]);
});

it('a blocked id and a blocked network are denied, except for an id in it with its own numbers', async () => {
  const { defaults, overrides } = written({
    overrides: `
- NewRegistrationsPerIPAddress: { blocked: true, ids: [10.0.0.0/8, 203.0.113.7] }
- NewRegistrationsPerIPAddress: { count: 2, period: 1s, ids: [10.1.1.1] }
`,
  });
  const limiter = createLimiter({ ...(await loadLimits({ defaults, overrides, keys: KEYS })) });
  const blocked = ['10.1.1.2', '203.0.113.7', '10.1.1.1', '203.0.113.8'].map(
    async (id) => (await limiter.check([{ limit: 'NewRegistrationsPerIPAddress', id }])).blocked,
  );
  expect(await Promise.all(blocked)).toEqual([true, true, false, false]);
});

it('a key can be given together with the failure policy of its limit', async () => {
  const { defaults } = written({});
  const keys = { ...KEYS, NewOrdersPerAccount: { key: accountId(), onFailure: 'closed' as const } };
  const { limits } = await loadLimits({ defaults, keys });
  expect(limits['NewOrdersPerAccount']).toMatchObject({ onFailure: 'closed' });
  expect(limits['NewRegistrationsPerIPAddress']).not.toHaveProperty('onFailure');
});

describe('wrong options are rejected:', () => {
  it.each([
    [
      { defaults: '' },
      "`defaults` must be the path of a file, a file: URL, or a function that returns text or data, but was ''. For example defaults: 'limits.yaml'.",
    ],
    [
      { defaults: 'a\0b' },
      "`defaults` must be the path of a file, a file: URL, or a function that returns text or data, but was 'a\\x00b'. For example defaults: 'limits.yaml'.",
    ],
    [
      { overrides: new URL('https://example.com/') },
      "`overrides` must be the path of a file, a file: URL, or a function that returns text or data, but was 'https://example.com/'. For example overrides: 'overrides.yaml'.",
    ],
    [
      { maxBytes: 0 },
      '`maxBytes` must be a whole number from 1 to 67108864, but was 0. For example maxBytes: 16_777_216; the default is 2_097_152.',
    ],
    [
      { keys: undefined },
      '`keys` must be an object of keys by limit, but was undefined. For example keys: { NewOrders: accountId((req) => req.user?.id ?? null) }.',
    ],
    [
      { keys: null },
      '`keys` must be an object of keys by limit, but was null. For example keys: { NewOrders: accountId((req) => req.user?.id ?? null) }.',
    ],
    [
      { keys: [] },
      '`keys` must be an object of keys by limit, but was []. For example keys: { NewOrders: accountId((req) => req.user?.id ?? null) }.',
    ],
    [
      { keys: { A: ipAddress } },
      "`keys.A` must be a key, but was [Function: ipAddress]. For example ipAddress(), or { key: ipAddress(), onFailure: 'closed' }.",
    ],
    [
      { keys: { A: null } },
      "`keys.A` must be a key, but was null. For example ipAddress(), or { key: ipAddress(), onFailure: 'closed' }.",
    ],
    [
      { keys: { A: { key: ipAddress(), onFail: 'closed' } } },
      "`keys.A` has no option `onFail` (its value was 'closed'). Did you mean `onFailure`? Options: key, onFailure.",
    ],
    [
      { file: 'x' },
      "`loadLimits` has no option `file` (its value was 'x'). Options: defaults, overrides, maxBytes, keys.",
    ],
  ])('%o', async (options, message) => {
    const call = () => loadLimits({ defaults: 'limits.yaml', keys: {}, ...options } as never);
    expect((await rejected(call)).message).toBe(message);
  });
});
