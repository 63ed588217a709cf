import { accountId, createLimiter, everyone, type Limits } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { load, loadFrom } from '@sluice/core/load';
import { quota } from '@sluice/core/quota';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kindOf } from '../../src/kinds/limit-of-kind.ts';
import { thrown } from '../support/thrown.ts';

const key = accountId();
const PER_SECOND = { count: 5, period: '1s' } as const;
const PLAIN = {
  per: { key, count: 5, per: 'day' },
  concurrency: { key, concurrency: 5, scope: 'process' },
  load: { load: loadFrom(() => 0) },
  borrow: { key, ...PER_SECOND, borrow: { from: 'Pool', ceiling: PER_SECOND } },
} as const;

describe('a limit of a kind', () => {
  const made = {
    rate: { key, ...PER_SECOND },
    quota: quota(PLAIN.per),
    concurrency: concurrency(PLAIN.concurrency),
    load: load(PLAIN.load),
    borrow: borrow(PLAIN.borrow),
  };

  test('has the options that it was made of, and its kind, also in a copy', () => {
    expect({ ...made.quota }).toMatchObject(PLAIN.per);
    const kinds = Object.values(made).map((one) => kindOf('limits.A', { ...one }).noun);
    expect(kinds).toEqual(['a rate', 'a quota', 'a concurrency limit', 'a load limit', 'a rate that borrows']);
  });

  test('may be a limit of several limiters', () => {
    const limits = { A: made.quota };
    const [one, other] = [createLimiter({ limits }), createLimiter({ limits })];
    expect(one.spendSync([{ limit: 'A', id: 'x' }]).remaining).toBe(4);
    expect(other.spendSync([{ limit: 'A', id: 'x' }]).remaining).toBe(4);
  });

  test.each([[undefined], [null], ['5 a day'], [[]]])('must be made of options, and not of %o', (options) => {
    const { code, message } = thrown(() => quota(options as never));
    expect(code).toBe('ERR_OPTION');
    expect(message).toMatch(
      /^`options of a quota` must be an object, but was .*\. For example \{ key: clientNetwork\(\), /,
    );
  });

  test('may come with a replacement of limits that were all rates, and is decided from then on', () => {
    const rates: Limits = { A: made.rate };
    const limiter = createLimiter({ limits: rates });
    limiter.replace({ limits: { A: made.rate, B: made.quota, C: made.concurrency } });
    const all = ['A', 'B', 'C'].map((limit) => ({ limit, id: 'x' }));
    const decisions = Array.from({ length: 6 }, () => limiter.spendSync(all, { hold: true }));
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false]);
  });
});

test.each([
  ['per', "quota } from '@sluice/core/quota'; and quota({ key, count: 5, per: 'day' })."],
  ['concurrency', "and concurrency({ key, concurrency: 5, scope: 'process' })."],
  ['load', "load } from '@sluice/core/load'; and load({ load: … })."],
  ['borrow', "and borrow({ key, count: 5, period: '1s', borrow: … })."],
] as const)('a plain object with `%s` is an error with the line that makes the limit', (mark, line) => {
  const limits = { A: PLAIN[mark], Pool: { key: everyone(), ...PER_SECOND } } as unknown as Limits;
  const { code, message } = thrown(() => createLimiter({ limits }));
  expect(code).toBe('ERR_LIMIT');
  expect(message).toContain(`\`limits.A.${mark}\` is an option of `);
  expect(message).toContain(line);
});

describe('with a second copy of the package in the process', () => {
  const folders: string[] = [];
  type Copy = { core: typeof import('@sluice/core'); concurrency: typeof concurrency; quota: typeof quota };
  let [one, other] = [] as unknown as [Copy, Copy];

  const copy = async (): Promise<Copy> => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-'));
    folders.push(folder);
    await cp(fileURLToPath(new URL('../../dist', import.meta.url)), join(folder, 'dist'), { recursive: true });
    await cp(fileURLToPath(new URL('../../package.json', import.meta.url)), join(folder, 'package.json'));
    const loaded = (entry: string) => import(pathToFileURL(join(folder, 'dist', `${entry}.js`)).href);
    const [core, ofSlots, ofQuotas] = await Promise.all(['index', 'concurrency', 'quota'].map(loaded));
    return { core, concurrency: ofSlots.concurrency, quota: ofQuotas.quota };
  };

  beforeAll(async () => {
    [one, other] = [await copy(), await copy()];
  });
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  test('a limit of the other copy is decided as one of its own, if the version is the same', async () => {
    const limiter = one.core.createLimiter({
      limits: { Day: other.quota({ key, count: 2, per: 'day' }), Slots: other.concurrency({ key, concurrency: 1 }) },
      log: false,
    });
    const spend = () =>
      limiter.spendSync(
        [
          { limit: 'Day', id: 'x' },
          { limit: 'Slots', id: 'x' },
        ],
        { hold: true },
      );
    const first = spend();
    expect([first.allowed, spend().allowed]).toEqual([true, false]);
    await first.release();
    expect([spend().allowed, spend().allowed]).toEqual([true, false]);
    expect(await limiter.usage([{ limit: 'Day', id: 'x' }])).toMatchObject([{ used: 2, remaining: 0 }]);
  });

  test('a limit of another version is an error with both versions and places', () => {
    const { code, message } = thrown(() => createLimiter({ limits: { A: one.quota(PLAIN.per) } }));
    expect(code).toBe('ERR_LIMIT');
    expect(message).toMatch(
      /^`limits\.A` is a quota of @sluice\/core \d+\.\d+\.\d+, from file:.*, but this is source, from file:.*\. Install one/,
    );
  });
});
