import { accountId, createLimiter, everyone } from '@sluice/core';
import { checkLimits, loadLimits, watchLimits } from '@sluice/config';
import { Ajv } from 'ajv';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { LIMITS_SCHEMA, OVERRIDES_SCHEMA } from '../src/shape/schemas.ts';
import { written } from './written-files.ts';

const LIMITS = `
PerUser:
  idFormat: accountId
  count: 100
  period: 1s
  borrow:
    from: Pool
    ceiling: { count: 400, period: 1s }
    weight: 0.5
    fair: true
    tenants: 4
Pool: { idFormat: everyone, count: 1000, period: 1s }
`;
const OVERRIDES = `
- PerUser:
    count: 500
    period: 1s
    borrow: { ceiling: { burst: 900, count: 800, period: 1s }, weight: 3 }
    ids: [gold]
- PerUser: { unlimited: true, ids: [internal] }
`;
const keys = { PerUser: accountId(), Pool: everyone() };
const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false });
const [isLimits, isOverrides] = [ajv.compile(LIMITS_SCHEMA), ajv.compile(OVERRIDES_SCHEMA)];

async function problemsOf(limits: string, overrides: string = OVERRIDES): Promise<readonly string[]> {
  const files = written({ limits, overrides });
  const problems = await checkLimits({ defaults: files.defaults, overrides: files.overrides });
  return problems.map(({ text }) => text.slice(files.dir.length + 1));
}

it('a file can define limits that borrow, and pools', async () => {
  expect(await problemsOf(LIMITS)).toEqual([]);
  expect([isLimits(parse(LIMITS)), isOverrides(parse(OVERRIDES))]).toEqual([true, true]);
  const { defaults, overrides } = written({ limits: LIMITS, overrides: OVERRIDES });
  const loaded = await loadLimits({ defaults, overrides, keys });
  expect(loaded.limits['PerUser']).toHaveProperty('borrow', {
    from: 'Pool',
    ceiling: { count: 400, period: '1s' },
    weight: 0.5,
    fair: true,
    tenants: 4,
  });
  const limiter = createLimiter(loaded);
  const spend = async (id: string, cost: number) => (await limiter.spend([{ limit: 'PerUser', id, cost }])).results[0];
  expect(await spend('gold', 500)).toMatchObject({ borrowed: false, burst: 500 });
  expect(await spend('gold', 400)).toMatchObject({ allowed: true, borrowed: true });
  expect(await spend('gold', 100)).toMatchObject({ allowed: false });
});

it('a limit without an idFormat may be a pool if its key is set in code', async () => {
  expect(await problemsOf(LIMITS.replace('idFormat: everyone, ', ''), '[]\n')).toEqual([]);
});

describe('a mistake in a limit that borrows is reported with file, line and column:', () => {
  it.each<[name: string, change: (limits: string) => string, problem: string]>([
    [
      'a list',
      (l) => l.replace(/borrow:[^]*tenants: 4/, 'borrow: [Pool]'),
      'limits.yaml:6:11: `PerUser.borrow` must be a mapping of fields',
    ],
    [
      'no pool',
      (l) => l.replace('    from: Pool\n', ''),
      'limits.yaml:7:5: `PerUser.borrow.from` must be the name of a limit',
    ],
    [
      'a pool that is a number',
      (l) => l.replace('from: Pool', 'from: 7'),
      'limits.yaml:7:11: `PerUser.borrow.from` must be the name of a limit',
    ],
    [
      'no ceiling',
      (l) => l.replace(/ {4}ceiling.*\n/, ''),
      'limits.yaml:7:5: `PerUser.borrow.ceiling` must be a mapping of fields',
    ],
    [
      'a ceiling without a period',
      (l) => l.replace(', period: 1s }\n    w', ' }\n    w'),
      'limits.yaml:8:14: `PerUser.borrow.ceiling.period` must be a duration',
    ],
    [
      'a low ceiling',
      (l) => l.replace('400', '99'),
      'limits.yaml:8:14: `PerUser.borrow.ceiling` must be at least the assured burst, 100,',
    ],
    [
      'a ceiling with a debt',
      (l) => l.replace('count: 400', 'maxDebt: 1, count: 400'),
      'limits.yaml:8:16: `PerUser.borrow.ceiling` has no option `maxDebt`',
    ],
    [
      'a weight of 0',
      (l) => l.replace('weight: 0.5', 'weight: 0'),
      'limits.yaml:9:13: `PerUser.borrow.weight` must be a number above 0',
    ],
    [
      'fair in words',
      (l) => l.replace('fair: true', 'fair: "yes"'),
      'limits.yaml:10:11: `PerUser.borrow.fair` must be true or false',
    ],
    [
      'tenants of 0',
      (l) => l.replace('tenants: 4', 'tenants: 0'),
      'limits.yaml:11:14: `PerUser.borrow.tenants` must be a whole number from 1 to 1000000000, but was 0. For example tenants: 50.',
    ],
    [
      'an unknown field',
      (l) => l.replace('fair: true', 'far: true'),
      'limits.yaml:10:5: `PerUser.borrow` has no option `far`',
    ],
    [
      'a maxWait',
      (l) => l.replace('period: 1s', 'period: 1s\n  maxWait: 1s'),
      'limits.yaml:6:12: `PerUser.maxWait` must be left out beside `borrow`: whether a request has to wait',
    ],
    [
      'an own number that is wrong',
      (l) => l.replace('count: 100\n', 'count: 0\n'),
      'limits.yaml:4:10: `PerUser.count` must be a whole number',
    ],
    [
      'a pool that is missing',
      (l) => l.replace('from: Pool', 'from: pool'),
      "limits.yaml:7:11: `PerUser.borrow.from` must be the name of another limit, but was 'pool'. Did you mean `Pool`?",
    ],
    [
      'a pool of accounts',
      (l) => l.replace('everyone', 'accountId'),
      'limits.yaml:7:11: `PerUser.borrow.from` must be a limit with the key everyone()',
    ],
    [
      'a pool that is disabled',
      (l) => l.replace('idFormat: everyone', 'disabled: true, idFormat: everyone'),
      'limits.yaml:7:11: `PerUser.borrow.from` must be a limit that is not disabled',
    ],
    [
      'a pool with too low a rate',
      (l) => l.replace('count: 1000', 'count: 899'),
      'limits.yaml:12:36: `Pool.count` must be at least the sum of the rates assured to the clients that borrow from it, 900 per 1 s',
    ],
  ])('%s', async (_, change, problem) => {
    const changed = change(LIMITS);
    expect(changed).not.toBe(LIMITS);
    const [first = '', ...others] = await problemsOf(changed);
    expect([first.slice(0, problem.length), others]).toEqual([problem, []]);
  });

  it.each<[name: string, override: string, problem: string]>([
    [
      'above the ceiling',
      '- PerUser: { count: 401, period: 1s, ids: [a] }',
      'overrides.yaml:1:3: `PerUser` has an override above the ceiling of the limit',
    ],
    [
      'a ceiling below it',
      '- PerUser: { count: 401, period: 1s, borrow: { ceiling: { count: 400, period: 1s } }, ids: [a] }',
      'overrides.yaml:1:57: `PerUser.borrow.ceiling` must be at least the assured burst, 401,',
    ],
    [
      'a wrong ceiling',
      '- PerUser: { count: 5, period: 1s, borrow: { ceiling: 5 }, ids: [a] }',
      'overrides.yaml:1:55: `PerUser.borrow.ceiling` must be a mapping of fields',
    ],
    [
      'a wrong weight',
      '- PerUser: { count: 5, period: 1s, borrow: { weight: none }, ids: [a] }',
      'overrides.yaml:1:54: `PerUser.borrow.weight` must be a number above 0',
    ],
    [
      'wrong numbers beside it',
      '- PerUser: { count: 0, period: 1s, borrow: { weight: 1 }, ids: [a] }',
      'overrides.yaml:1:21: `PerUser.count` must be a whole number',
    ],
    [
      'of a pool',
      '- Pool: { count: 5, period: 1s, ids: [everyone] }',
      'overrides.yaml:1:3: `Pool` changes the numbers of a pool',
    ],
    [
      'of a pool, unlimited',
      '- Pool: { unlimited: true, ids: [everyone] }',
      'overrides.yaml:1:3: `Pool` changes the numbers of a pool',
    ],
    [
      'of unlimited ids',
      '- PerUser: { unlimited: true, borrow: { weight: 1 }, ids: [a] }',
      'overrides.yaml:1:31: `PerUser.borrow` must be left out beside `unlimited`',
    ],
  ])('an override %s', async (_, override, problem) => {
    const [first = '', ...others] = await problemsOf(LIMITS, `${override}\n`);
    expect([first.slice(0, problem.length), others]).toEqual([problem, []]);
  });

  it('a ceiling above atMost', async () => {
    const limits = LIMITS.replace('count: 100\n', 'count: 100\n  atMost: { 700: 1s }\n');
    const problems = await problemsOf(limits, '[]\n');
    expect(problems).toEqual([
      expect.stringMatching(/^limits\.yaml:9:14: `PerUser.borrow.ceiling` must let at most 700/),
    ]);
  });

  it('an override of a limit that does not borrow', async () => {
    const limits = 'PerUser: { idFormat: accountId, count: 100, period: 1s }\n';
    const [first] = await problemsOf(limits, '- PerUser: { count: 5, period: 1s, borrow: { weight: 1 }, ids: [a] }\n');
    expect(first).toContain(
      'overrides.yaml:1:3: `PerUser` has no option `borrow` (its value was { weight: 1 }). `borrow` is for a limit that borrows, and this one does not.',
    );
  });

  it('overrides whose assured rates together exceed the pool', async () => {
    const three = '- PerUser: { count: 300, period: 1s, ids: [a, b, c] }\n';
    const [first] = await problemsOf(LIMITS, three);
    expect(first).toContain('limits.yaml:12:36: `Pool.count` must be at least the sum of the rates assured');
  });
});

it('a changed file takes effect; the limits stay unchanged when the rate of its pool is too low', async () => {
  const { defaults } = written({ limits: LIMITS });
  const loaded = await loadLimits({ defaults, keys });
  const limiter = createLimiter(loaded);
  const live = watchLimits(limiter, loaded, { everyMs: false, log: false });
  const burst = async () => (await limiter.check([{ limit: 'PerUser', id: 'a' }])).results[0]?.burst;
  writeFileSync(defaults, LIMITS.replace('count: 1000', 'count: 300'));
  expect((await live.reload()).lastError?.message).toContain(':12:36: `Pool.count` must be at least');
  expect(await burst()).toBe(100);
  writeFileSync(defaults, LIMITS.replace('count: 100\n', 'count: 200\n'));
  expect((await live.reload()).lastError).toBeUndefined();
  expect(await burst()).toBe(200);
  live.close();
});
