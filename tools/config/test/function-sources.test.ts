import { accountId, by, type Override } from '@sluice/core';
import type { Alarm } from '@sluice/core/store';
import { loadLimits } from '@sluice/config';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it, vi } from 'vitest';
import { rejected } from '../../../packages/core/test/support/thrown.ts';
import { uninspectable } from '../../../packages/core/test/support/uninspectable.ts';
import { dataNode } from '../src/nodes/node.ts';
import { Problems } from '../src/nodes/problems.ts';
import { overrideRows } from '../src/shape/overrides-shape.ts';
import { readFunction } from '../src/sources/source.ts';
import { KEYS, LIMITS } from './written-files.ts';

describe('a function in the place of a file', () => {
  const override: { [limit: string]: Override & { ids: unknown[] } }[] = [
    { NewOrdersPerAccount: { count: 600, period: '180m', ids: [12345678, 87654321n, { id: 'a', comment: 'x' }] } },
  ];

  it.each([
    ['text', LIMITS],
    ['bytes', Buffer.from(LIMITS)],
    ['data', { NewOrdersPerAccount: { count: 1, period: '1s', idFormat: 'accountId', disabled: false } }],
  ])('returns %s', async (_, given) => {
    const names = typeof given === 'string' || Buffer.isBuffer(given) ? Object.keys(KEYS) : ['NewOrdersPerAccount'];
    const keys = Object.fromEntries(Object.entries(KEYS).filter(([name]) => names.includes(name)));
    const loaded = await loadLimits({ defaults: () => given, overrides: async () => override, keys });
    expect(loaded.overrides.rateOf('NewOrdersPerAccount', '87654321')).toMatchObject({ count: 600 });
    expect(Object.keys(loaded.limits)).toEqual(names);
  });

  it('may return undefined for a field that it leaves out', async () => {
    const loaded = await loadLimits({
      defaults: () => ({ A: { burst: undefined, count: 1, period: '1s', idFormat: undefined }, B: undefined }),
      overrides: () => [{ A: { burst: undefined, unlimited: undefined, count: 2, period: '1s', ids: ['x'] } }],
      keys: { A: accountId() },
    });
    expect(loaded.limits['A']).toEqual({ key: expect.anything(), count: 1, period: '1s' });
    expect(loaded.overrides.rateOf('A', 'x')).toMatchObject({ burst: 2 });
  });

  it('does not block the event loop between two ids of a slow format', async () => {
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const canonical = (text: string): string => {
      for (const startMs = performance.now(); performance.now() - startMs < 5;);
      return text;
    };
    const ids = Array.from({ length: 30 }, (_, i) => i);
    await loadLimits({
      defaults: () => ({ A: { count: 1, period: '1s' } }),
      overrides: () => [{ A: { unlimited: true, ids } }],
      keys: { A: by(undefined, { format: { name: 'slow', canonical } }) },
    });
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(ids.length);
  });

  it('does not block the event loop while all its data is wrong', () => {
    const rowsIn = (data: unknown): number => [...overrideRows(dataNode(data), new Problems())].length;
    const wrong = Array.from({ length: 1024 }, (_, i) => i + 0.5);
    expect(rowsIn([{ A: { unlimited: true, ids: wrong } }])).toBe(5);
    expect(rowsIn(wrong)).toBe(1024);
    expect(rowsIn(wrong.map(() => ({})))).toBe(1024);
    expect(rowsIn(wrong.map((name) => ({ [name]: {} })))).toBe(1024);
  });

  it('has a version that changes with its data', async () => {
    const versionOf = async (id: number): Promise<string> =>
      (
        await loadLimits({
          defaults: () => LIMITS,
          overrides: () => [{ NewOrdersPerAccount: { unlimited: true, ids: [id] } }],
          keys: KEYS,
        })
      ).version;
    expect(await versionOf(1)).toBe(await versionOf(1));
    expect(await versionOf(2)).not.toBe(await versionOf(1));
  });

  it('has its mistakes reported by path in data, and by line and column in text', async () => {
    const ids = [1, 2 ** 60, 0.5, Number.NaN, undefined, new Date(0), Symbol('s')];
    const call = () =>
      loadLimits({
        defaults: () => ({ ...JSON.parse(JSON.stringify({ 'a b': {} })), NewOrdersPerAccount: { count: 0 } }),
        overrides: () => [{ NewOrdersPerAccount: { count: 600, period: 60_000, ids } }, new Map()],
        keys: { NewOrdersPerAccount: accountId() },
      });
    expect((await rejected(call)).message.split('\n').slice(1)).toMatchInlineSnapshot(`
      [
        "defaults:["a b"]: \`name of a limit\` must be a letter followed by letters, digits, \`_\`, \`.\` or \`-\`, at most 64 characters, but was 'a b'. Clients see the name in header fields. For example OrdersPerAccount.",
        "defaults:NewOrdersPerAccount.count: \`NewOrdersPerAccount.count\` must be a whole number from 1 to 1000000000, but was 0. To allow no bursts use burst: 1; for no limit leave the limit out.",
        "defaults:NewOrdersPerAccount: \`NewOrdersPerAccount.period\` must be a duration from 1ms to 366 days, but was undefined. For example 1s, 1m, 180m, 24h or 7d.",
        "overrides:[0].NewOrdersPerAccount.period: \`NewOrdersPerAccount.period\` must be a duration with its unit, but was 60000. Write 60000s for seconds, 60000ms for milliseconds.",
        "overrides:[0].NewOrdersPerAccount.ids[1]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was 1152921504606847000. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[2]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was 0.5. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[3]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was NaN. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[4]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was empty. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[5]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was 1970-01-01T00:00:00.000Z. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[6]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was Symbol(s). Quote it, if that is the id.",
        "overrides:[1]: \`override\` must be a mapping of a limit to its fields, but was Map(0) {}. For example \`- NewOrders: { count: 600, period: 180m, ids: [12345678] }\`.",
      ]
    `);
    const text = () => loadLimits({ defaults: () => 'A: 1\n', keys: {} });
    expect((await rejected(text)).message).toContain('\ndefaults:1:1: The limit `A` has no key in code');
  });

  it('that throws, returns unusable content or too much is reported', async () => {
    const load = async (defaults: () => unknown) =>
      (await rejected(() => loadLimits({ defaults, keys: {}, maxBytes: 10 }))).message.split('\n')[1];
    expect(await load(() => Promise.reject(new TypeError('no database')))).toBe(
      'defaults: The function threw TypeError: no database.',
    );
    expect(
      await load(() => {
        // oxlint-disable-next-line no-throw-literal -- What a library may do.
        throw 'text';
      }),
    ).toBe("defaults: The function threw 'text'.");
    expect(await load(() => Promise.reject(uninspectable()))).toBe('defaults: The function threw {}.');
    expect(await load(() => undefined)).toMatch(/^defaults: The limits file is empty\./);
    expect(await load(() => [])).toMatch(
      /^defaults: The limits file must be a mapping of limits by name, but was a list/,
    );
    expect(await load(() => 'x'.repeat(11))).toBe(
      'defaults: The text is larger than 10 bytes. Make it smaller, or raise maxBytes.',
    );
  });
});

it('a function that never answers is abandoned', async () => {
  const time = new FakeTime();
  const content = readFunction(() => new Promise(() => {}), { maxBytes: 1, timeMs: 60_000, time });
  time.advance(60_000);
  expect(await content).toEqual({ rejected: 'The function did not answer within 60000 ms.' });
});

it('a function that has answered leaves no timer behind, and one that has not keeps no process alive', async () => {
  const cancel = vi.fn<() => void>();
  class Time extends FakeTime {
    override alarm(delayMs: number, run: () => void): Alarm {
      return { ...super.alarm(delayMs, run), cancel };
    }
  }
  const time = new Time();
  const bounds = { maxBytes: 4, timeMs: 60_000, time };
  void readFunction(() => new Promise(() => {}), bounds);
  expect([cancel.mock.calls.length, time.pending]).toEqual([0, 0]);
  await readFunction(() => 'text', bounds);
  await readFunction(() => Promise.reject(new Error('no database')), bounds);
  expect(cancel).toHaveBeenCalledTimes(2);
});
