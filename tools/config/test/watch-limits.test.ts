import { writeFileSync } from 'node:fs';
import { accountId, createLimiter, SluiceError, type Limits, type LimitDefinition, type Rate } from '@sluice/core';
import { loadLimits, watchLimits } from '@sluice/config';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RequestLimiter } from '../../../packages/core/src/limiter/request-limiter.ts';
import { rejected, thrown } from '../../../packages/core/test/support/thrown.ts';
import { uninspectable } from '../../../packages/core/test/support/uninspectable.ts';
import { KEYS, LIMITS, written } from './written-files.ts';
import { becomes, countOf, passUntil, watched, LIMIT, withCount } from './watched.ts';

describe('a function', () => {
  it('that returns data that can not be inspected is rejected like any other', async () => {
    let data: unknown = LIMITS;
    const { live, loaded } = await watched({ defaults: () => data }, { everyMs: false });
    data = {
      get [LIMIT]() {
        throw uninspectable();
      },
    };
    const { version, failingSince } = await live.reload();
    expect(version).toBe(loaded.version);
    expect(failingSince).toBeInstanceOf(Date);
  });

  it('is called on reload() only, unless everyMs is set', async () => {
    let count = 300;
    const overrides = () => [{ [LIMIT]: { count, period: '1s', ids: ['1'] } }];
    const { limiter, live } = await watched({ defaults: () => LIMITS, overrides });
    count = 301;
    await live.reload();
    expect(await countOf(limiter)).toBe(301);
    const often = await watched({ defaults: () => LIMITS, overrides }, { everyMs: 100 });
    count = 302;
    await expect(becomes(often, 302)).resolves.toBe(true);
    expect(await countOf(limiter)).toBe(301);
  });

  it('beside a file is called every everyMs too', async () => {
    let text = '[]';
    const { defaults } = written({});
    const subject = await watched({ defaults, overrides: () => text }, { everyMs: 100 });
    text = `- ${LIMIT}: { count: 5, period: 1s, ids: [1] }`;
    await expect(becomes(subject, 5)).resolves.toBe(true);
  });

  it('that throws leaves the last good limits in use', async () => {
    let isDown = false;
    const defaults = () => (isDown ? Promise.reject(new Error('no database')) : LIMITS);
    const { live, limiter } = await watched({ defaults }, { everyMs: false });
    isDown = true;
    expect((await live.reload()).lastError?.message).toBe(
      'There is 1 problem with the limits:\ndefaults: The function threw Error: no database.',
    );
    expect(await countOf(limiter)).toBe(300);
    isDown = false;
    expect((await live.reload()).lastError).toBeUndefined();
  });

  it('that answers slowly is not called again meanwhile, and no older answer replaces a newer one', async () => {
    const answers: ((text: string) => void)[] = [];
    let isFirst = true;
    const defaults = () =>
      isFirst ? ((isFirst = false), LIMITS) : new Promise<string>((resolve) => answers.push(resolve));
    const { live, limiter, time } = await watched({ defaults }, { everyMs: 100 });
    await passUntil(time, () => answers.length === 1);
    const reloaded = live.reload();
    await time.pass(300);
    expect(answers).toHaveLength(1);
    answers[0]?.(withCount(301));
    await passUntil(time, () => answers.length > 1);
    expect(await countOf(limiter)).toBe(301);
    answers[1]?.(withCount(302));
    await reloaded;
    expect(await countOf(limiter)).toBe(302);
  });
});

describe('after close()', () => {
  it('reload is an error', async () => {
    const { defaults } = written({});
    const { live } = await watched({ defaults });
    live.close();
    expect((await rejected(() => live.reload())).message).toBe(
      'These live limits are closed. Call watchLimits() again.',
    );
  });

  it('a reading in progress changes nothing', async () => {
    let give: ((text: string) => void) | undefined;
    let isFirst = true;
    const defaults = () => (isFirst ? ((isFirst = false), LIMITS) : new Promise<string>((resolve) => (give = resolve)));
    const { live, limiter, events } = await watched({ defaults }, { everyMs: false });
    const reloaded = live.reload();
    await vi.waitFor(() => expect(give).toBeDefined());
    live.close();
    give?.(withCount(301));
    await reloaded;
    expect(await countOf(limiter)).toBe(300);
    expect(events).toEqual([]);
  });
});

it('each event has its own log line, even shortly after one of the same type; by default on console.warn', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const { defaults } = written({});
  const { live } = await watched({ defaults }, { everyMs: false, log: undefined, onEvent: undefined });
  for (const count of [301, 302]) {
    writeFileSync(defaults, withCount(count));
    await live.reload();
  }
  expect(warn).toHaveBeenCalledTimes(2);
});

describe('wrong options are rejected:', () => {
  it.each([
    [
      { everyMs: 99 },
      '`everyMs` must be a whole number from 100 to 86400000, but was 99. For example everyMs: 500, or everyMs: false to reload only when reload() is called.',
    ],
    [
      { every: 1 },
      '`watchLimits` has no option `every` (its value was 1). Did you mean `everyMs`? Options: everyMs, onEvent, log.',
    ],
    [
      { log: true },
      '`log` must be a function of a line, or false, but was true. For example log: (line) => logger.warn(line).',
    ],
    [
      { onEvent: 1 },
      '`onEvent` must be a function, but was 1. For example onEvent: (event) => metrics.count(event.type).',
    ],
  ])('%o', async (options, message) => {
    const loaded = await loadLimits({ defaults: () => LIMITS, keys: KEYS });
    const limiter = createLimiter({ ...loaded });
    expect(thrown(() => watchLimits(limiter, loaded, options as never)).message).toBe(message);
  });

  it('a value that is not a limiter, and limits that loadLimits did not return', async () => {
    const loaded = await loadLimits({ defaults: () => LIMITS, keys: KEYS });
    const limiter = createLimiter({ ...loaded });
    expect(thrown(() => watchLimits(undefined as never, loaded)).message).toBe(
      '`limiter` must be made by createLimiter, but was undefined. For example const limiter = createLimiter({ limits: { … } }).',
    );
    expect(thrown(() => watchLimits(limiter, { ...loaded })).message).toMatch(
      /^`loaded` must be the result of loadLimits, but was \{.*Pass the object that loadLimits returned, not a copy of it\.$/,
    );
    expect(thrown(() => watchLimits(limiter, null as never))).toBeInstanceOf(SluiceError);
  });
});

describe('the sources define all limits of a limiter:', () => {
  it('a limiter with other limits is rejected, because they would be lost', async () => {
    const loaded = await loadLimits({ defaults: () => LIMITS, keys: KEYS });
    const { [LIMIT]: _, ...others } = loaded.limits;
    const messageWith = (limits: Limits): string =>
      thrown(() => watchLimits(createLimiter({ limits }), loaded)).message;
    const refusal =
      '`limiter` must have the limits of `loaded`, with their keys, and no others, but differs in `%`. Make the limiter with createLimiter({ ...loaded }). Put limits that are defined in code into another limiter.';
    expect(messageWith({ ...loaded.limits, InCode: { key: accountId(), count: 1, period: '1s' } })).toBe(
      refusal.replace('%', 'InCode'),
    );
    expect(messageWith(others)).toBe(refusal.replace('%', LIMIT));
    const otherKey = { key: accountId(), count: 300, period: '180m' };
    expect(messageWith({ ...others, [LIMIT]: otherKey })).toBe(refusal.replace('%', LIMIT));
  });

  it('they replace numbers and overrides that are defined in code', async () => {
    const loaded = await loadLimits({ defaults: () => LIMITS, keys: KEYS });
    const inCode = Object.entries(loaded.limits).map(
      ([name, limit]) => [name, { ...(limit as LimitDefinition & Rate), count: 7 }] as const,
    );
    const limiter = createLimiter({
      limits: Object.fromEntries(inCode),
      overrides: { [LIMIT]: { '1': { count: 8, period: '1s' } } },
    });
    expect(await countOf(limiter)).toBe(8);
    watchLimits(limiter, loaded, { everyMs: false });
    expect([await countOf(limiter), await countOf(limiter, '2')]).toEqual([300, 300]);
  });

  it('a reload replaces limits that code has set meanwhile', async () => {
    const { limiter, live, loaded, events } = await watched({ defaults: () => LIMITS });
    limiter.replace({ limits: loaded.limits, overrides: { [LIMIT]: { '1': { count: 8, period: '1s' } } } });
    await live.reload();
    expect(await countOf(limiter)).toBe(300);
    expect(events).toEqual([]);
  });
});

it('a burst below a cost that a middleware needs is rejected, and watching continues', async () => {
  const { defaults } = written({});
  const keys = { ...KEYS, [LIMIT]: accountId(() => '1') };
  const { limiter, live } = await watched({ defaults }, { everyMs: false }, keys);
  (limiter as unknown as RequestLimiter).prepare([{ limit: LIMIT, cost: 200, mode: 'check-and-spend', share: 1 }]);
  writeFileSync(defaults, withCount(300).replace('burst: 300', 'burst: 199'));
  expect((await live.reload()).lastError).toMatchObject({ code: 'ERR_COST_OVER_BURST' });
  writeFileSync(defaults, withCount(301));
  expect((await live.reload()).lastError).toBeUndefined();
});

it('a file that lacks a limit of the limiter is rejected', async () => {
  const { defaults } = written({ limits: 'A: { count: 1, period: 1s }\n' });
  const { live } = await watched({ defaults }, { everyMs: false }, { A: accountId() });
  writeFileSync(defaults, 'B: { count: 1, period: 1s }\n');
  expect((await live.reload()).lastError?.message).toContain(
    'The limit `A` has a key in code, but is not in the file.',
  );
});
