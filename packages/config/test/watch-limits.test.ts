import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountId, createLimiter, SluiceError, type LimitDefinitions, type Limiter } from '@sluice/core';
import { loadLimits, watchLimits, type LimitFilesEvent, type LimitSource, type WatchOptions } from '@sluice/config';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LimiterCore } from '../../core/src/limiter/limiter-core.ts';
import { rejected, thrown } from '../../core/test/support/thrown.ts';
import { uninspectable } from '../../core/test/support/uninspectable.ts';
import { FileSignatures } from '../src/live/file-signatures.ts';
import { folder, KEYS, LIMITS, written } from './written-files.ts';
import { realDelay } from '../../../test/real-delay.ts';

const LIMIT = 'NewOrdersPerAccount';

interface Sources {
  readonly defaults: LimitSource;
  readonly overrides?: LimitSource;
}

/** A limiter whose limits follow their sources. */
async function followed(sources: Sources, options: WatchOptions = {}, keys = KEYS) {
  const loaded = await loadLimits({ ...sources, keys });
  const limiter = createLimiter({ ...loaded });
  const lines: string[] = [];
  const events: LimitFilesEvent[] = [];
  const live = watchLimits(limiter, loaded, {
    log: (line) => lines.push(line),
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => live.close());
  return { loaded, limiter, live, lines, events };
}

async function countOf(limiter: Limiter, id = '1'): Promise<number | undefined> {
  return (await limiter.check([{ limit: LIMIT, id }])).results[0]?.count;
}

const withCount = (count: number): string => LIMITS.replace('burst: 300, count: 300', `burst: 300, count: ${count}`);
async function becomes(limiter: Limiter, count: number): Promise<boolean> {
  await vi.waitFor(async () => expect(await countOf(limiter)).toBe(count), { timeout: 20_000, interval: 20 });
  return true;
}

describe('a file is followed', () => {
  it('when it is written in place', async () => {
    const { defaults } = written({});
    const { limiter, live, loaded, events, lines } = await followed({ defaults });
    writeFileSync(defaults, withCount(301));
    await expect(becomes(limiter, 301)).resolves.toBe(true);
    const { version, loadedAt, lastError } = live.status();
    expect(version).not.toBe(loaded.version);
    expect(loadedAt.getTime()).toBeGreaterThanOrEqual(loaded.loadedAt.getTime());
    expect(lastError).toBeUndefined();
    const message = `limits reloaded (version ${version})`;
    expect(events).toEqual([{ type: 'limits-reloaded', version, message }]);
    expect(lines).toEqual([`Sluice: ${message}`]);
  });

  it('when another is renamed over it, and again', async () => {
    const { defaults, dir } = written({});
    const { limiter } = await followed({ defaults });
    for (const count of [301, 302]) {
      writeFileSync(join(dir, 'new'), withCount(count));
      renameSync(join(dir, 'new'), defaults);
      await expect(becomes(limiter, count)).resolves.toBe(true);
    }
  });

  it('when a link on its way is swapped, as Kubernetes does it', async () => {
    const dir = folder();
    const version = (name: string, count: number): void => {
      mkdirSync(join(dir, name));
      writeFileSync(join(dir, name, 'limits.yaml'), withCount(count));
      symlinkSync(name, join(dir, '..data_tmp'));
      renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
    };
    version('..1', 300);
    symlinkSync(join('..data', 'limits.yaml'), join(dir, 'limits.yaml'));
    const { limiter } = await followed({ defaults: join(dir, 'limits.yaml') });
    for (const count of [301, 302]) {
      version(`..${count}`, count);
      await expect(becomes(limiter, count)).resolves.toBe(true);
    }
  });

  it('and looked at again and again while nothing changes', async () => {
    const { defaults } = written({});
    const { live, loaded, events } = await followed({ defaults }, { everyMs: 100 });
    let looks = 0;
    let checkedAt = loaded.loadedAt;
    await vi.waitFor(() => {
      if (live.status().checkedAt > checkedAt) looks++;
      ({ checkedAt } = live.status());
      expect(looks).toBeGreaterThan(3);
    }, 20_000);
    expect(events).toEqual([]);
    expect(live.status().version).toBe(loaded.version);
  });

  it('when it is taken away and comes back', async () => {
    const { defaults } = written({});
    const { limiter, live, events } = await followed({ defaults });
    rmSync(defaults);
    await vi.waitFor(() => expect(live.status().lastError?.message).toContain('The file does not exist'), 20_000);
    expect(await countOf(limiter)).toBe(300);
    writeFileSync(defaults, LIMITS);
    await vi.waitFor(() => expect(live.status().lastError).toBeUndefined(), 20_000);
    expect(events.map(({ type }) => type)).toEqual(['limits-rejected', 'limits-restored']);
    expect(live.status().failingSince).toBeUndefined();
  });
});

describe('overrides are followed:', () => {
  const override = (count: number): string => `- ${LIMIT}: { count: ${count}, period: 180m, ids: [1] }\n`;

  it('raising, lowering, adding and deleting the last one all take effect', async () => {
    const { defaults, overrides } = written({ overrides: override(400) });
    const { limiter, live } = await followed({ defaults, overrides }, { everyMs: false });
    for (const [text, count] of [
      [override(500), 500],
      [override(200), 200],
      ['[]', 300],
      [override(7), 7],
    ] as const) {
      writeFileSync(overrides, text);
      await live.reload();
      expect(await countOf(limiter)).toBe(count);
    }
  });

  it('a bucket keeps its state: a raised limit helps at once, a lowered one lets no more than its burst through', async () => {
    const numbers = (burst: number): string => LIMITS.replace('burst: 300, count: 300', `burst: ${burst}, count: 1`);
    const { defaults } = written({ limits: numbers(10) });
    const { limiter, live } = await followed({ defaults }, { everyMs: false });
    const take = async (cost: number): Promise<boolean> =>
      (await limiter.spend([{ limit: LIMIT, id: '1', cost }])).allowed;
    const follow = (burst: number): Promise<unknown> => (writeFileSync(defaults, numbers(burst)), live.reload());
    expect([await take(10), await take(1)]).toEqual([true, false]);
    await follow(15);
    expect([await take(5), await take(1)]).toEqual([true, false]);
    await limiter.reset([{ limit: LIMIT, id: '1' }]);
    await follow(3);
    expect([await take(3), await take(1)]).toEqual([true, false]);
  });
});

describe('a bad file', () => {
  it('keeps the last good limits, is said once, and is over when it is good again', async () => {
    const { defaults } = written({});
    const { limiter, live, lines, loaded } = await followed({ defaults }, { everyMs: false });
    writeFileSync(defaults, withCount(0));
    await live.reload();
    const { lastError, failingSince, version } = await live.reload();
    expect(version).toBe(loaded.version);
    expect(lastError?.message).toContain(`${defaults}:4:43: \`${LIMIT}.count\` must be a whole number`);
    expect(failingSince).toBeInstanceOf(Date);
    expect(await countOf(limiter)).toBe(300);
    expect(lines).toEqual([`Sluice: limits NOT reloaded; still using version ${version}. ${lastError?.message}`]);
    writeFileSync(defaults, withCount(-1));
    expect((await live.reload()).failingSince).toBe(failingSince);
    expect(lines).toHaveLength(2);
    writeFileSync(defaults, withCount(302));
    expect((await live.reload()).lastError).toBeUndefined();
    expect(await countOf(limiter)).toBe(302);
    expect(lines).toHaveLength(3);
  });

  it('that is finished a moment later is never judged', async () => {
    const { defaults } = written({});
    const { limiter, events } = await followed({ defaults }, { everyMs: 100 });
    const timer = setInterval(() => writeFileSync(defaults, `${LIMITS}Half`), 20);
    await realDelay(700);
    clearInterval(timer);
    writeFileSync(defaults, withCount(301));
    await expect(becomes(limiter, 301)).resolves.toBe(true);
    expect(events.map(({ type }) => type)).toEqual(['limits-reloaded']);
  });

  it('is not the good half of one that is written slowly', async () => {
    const { defaults, overrides } = written({ overrides: '[]' });
    const { limiter, events } = await followed({ defaults, overrides }, { everyMs: 100 });
    writeFileSync(overrides, '');
    for (let id = 1; id <= 12; id++) {
      appendFileSync(overrides, `- ${LIMIT}: { count: 5, period: 1s, ids: [${id}] }\n`);
      await realDelay(100);
    }
    await vi.waitFor(async () => expect(await countOf(limiter, '12')).toBe(5), { timeout: 20_000, interval: 20 });
    expect(events.map(({ type }) => type)).toEqual(['limits-reloaded']);
  });

  it('or a good one that is written all the time is taken nevertheless after a while', async () => {
    const { defaults } = written({});
    const files = new FileSignatures([defaults], { quietMs: 20, looks: 3 });
    const timer = setInterval(() => appendFileSync(defaults, '#\n'), 1);
    onTestFinished(() => clearInterval(timer));
    expect(await files.quiet()).toMatch(/^\d/);
  });

  it('is what a limiter can’t go on with, too', async () => {
    const { defaults } = written({});
    const { limiter, live, loaded } = await followed({ defaults }, { everyMs: false });
    await limiter.close();
    writeFileSync(defaults, withCount(301));
    const { lastError, version } = await live.reload();
    expect(lastError).toMatchObject({ code: 'ERR_CLOSED' });
    expect(version).toBe(loaded.version);
    expect(await rejected(() => live.reload())).toMatchObject({ message: expect.stringMatching(/^These live limits/) });
  });
});

describe('a function', () => {
  it('that gives what can not be inspected is refused like any other', async () => {
    let data: unknown = LIMITS;
    const { live, loaded } = await followed({ defaults: () => data }, { everyMs: false });
    data = {
      get [LIMIT]() {
        throw uninspectable();
      },
    };
    const { version, failingSince } = await live.reload();
    expect(version).toBe(loaded.version);
    expect(failingSince).toBeInstanceOf(Date);
  });

  it('is asked on call only, unless it is said how often', async () => {
    let count = 300;
    const overrides = () => [{ [LIMIT]: { count, period: '1s', ids: ['1'] } }];
    const { limiter, live } = await followed({ defaults: () => LIMITS, overrides });
    count = 301;
    await live.reload();
    expect(await countOf(limiter)).toBe(301);
    const often = await followed({ defaults: () => LIMITS, overrides }, { everyMs: 100 });
    count = 302;
    await expect(becomes(often.limiter, 302)).resolves.toBe(true);
    expect(await countOf(limiter)).toBe(301);
  });

  it('beside a file is asked as often as that is said too', async () => {
    let text = '[]';
    const { defaults } = written({});
    const { limiter } = await followed({ defaults, overrides: () => text }, { everyMs: 100 });
    text = `- ${LIMIT}: { count: 5, period: 1s, ids: [1] }`;
    await expect(becomes(limiter, 5)).resolves.toBe(true);
  });

  it('that throws keeps the last good limits', async () => {
    let isDown = false;
    const defaults = () => (isDown ? Promise.reject(new Error('no database')) : LIMITS);
    const { live, limiter } = await followed({ defaults }, { everyMs: false });
    isDown = true;
    expect((await live.reload()).lastError?.message).toBe(
      'There is 1 problem with the limits:\ndefaults: The function threw Error: no database.',
    );
    expect(await countOf(limiter)).toBe(300);
    isDown = false;
    expect((await live.reload()).lastError).toBeUndefined();
  });

  it('that answers slowly is not asked again meanwhile, and no older answer replaces a newer one', async () => {
    const answers: ((text: string) => void)[] = [];
    let isFirst = true;
    const defaults = () =>
      isFirst ? ((isFirst = false), LIMITS) : new Promise<string>((resolve) => answers.push(resolve));
    const { live, limiter } = await followed({ defaults }, { everyMs: 100 });
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    const reloaded = live.reload();
    await realDelay(300);
    expect(answers).toHaveLength(1);
    answers[0]?.(withCount(301));
    await vi.waitFor(() => expect(answers.length).toBeGreaterThan(1));
    expect(await countOf(limiter)).toBe(301);
    answers[1]?.(withCount(302));
    await reloaded;
    expect(await countOf(limiter)).toBe(302);
  });
});

describe('after close()', () => {
  it('nothing is followed, and reload is an error', async () => {
    const { defaults } = written({});
    const { live } = await followed({ defaults });
    live.close();
    expect((await rejected(() => live.reload())).message).toBe(
      'These live limits are closed. Call watchLimits() again.',
    );
  });

  it('a reading that was on its way changes nothing', async () => {
    let give: ((text: string) => void) | undefined;
    let isFirst = true;
    const defaults = () => (isFirst ? ((isFirst = false), LIMITS) : new Promise<string>((resolve) => (give = resolve)));
    const { live, limiter, events } = await followed({ defaults }, { everyMs: false });
    const reloaded = live.reload();
    await vi.waitFor(() => expect(give).toBeDefined());
    live.close();
    give?.(withCount(301));
    await reloaded;
    expect(await countOf(limiter)).toBe(300);
    expect(events).toEqual([]);
  });
});

it('an event that comes shortly after one of its kind has a line of its own, on console.warn unless told otherwise', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warn.mockRestore());
  const { defaults } = written({});
  const { live } = await followed({ defaults }, { everyMs: false, log: undefined, onEvent: undefined });
  for (const count of [301, 302]) {
    writeFileSync(defaults, withCount(count));
    await live.reload();
  }
  expect(warn).toHaveBeenCalledTimes(2);
});

describe('wrong options are refused:', () => {
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

  it('what is no limiter, and what was not loaded', async () => {
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

describe('the sources are all of a limiter’s limits:', () => {
  it('a limiter with others is refused, as they would be lost', async () => {
    const loaded = await loadLimits({ defaults: () => LIMITS, keys: KEYS });
    const { [LIMIT]: _, ...others } = loaded.limits;
    const messageWith = (limits: LimitDefinitions): string =>
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

  it('numbers and overrides of code give way to them at the start', async () => {
    const loaded = await loadLimits({ defaults: () => LIMITS, keys: KEYS });
    const inCode = Object.entries(loaded.limits).map(([name, limit]) => [name, { ...limit, count: 7 }] as const);
    const limiter = createLimiter({
      limits: Object.fromEntries(inCode),
      overrides: { [LIMIT]: { '1': { count: 8, period: '1s' } } },
    });
    expect(await countOf(limiter)).toBe(8);
    watchLimits(limiter, loaded, { everyMs: false });
    expect([await countOf(limiter), await countOf(limiter, '2')]).toEqual([300, 300]);
  });

  it('a reload gives the limiter what they say, whatever it was given meanwhile', async () => {
    const { limiter, live, loaded, events } = await followed({ defaults: () => LIMITS });
    limiter.replace({ limits: loaded.limits, overrides: { [LIMIT]: { '1': { count: 8, period: '1s' } } } });
    await live.reload();
    expect(await countOf(limiter)).toBe(300);
    expect(events).toEqual([]);
  });
});

it('a limiter refuses a burst that can’t pay what it must, and is followed on', async () => {
  const { defaults } = written({});
  const keys = { ...KEYS, [LIMIT]: accountId(() => '1') };
  const { limiter, live } = await followed({ defaults }, { everyMs: false }, keys);
  (limiter as LimiterCore).requireLimit(LIMIT, 200);
  writeFileSync(defaults, withCount(300).replace('burst: 300', 'burst: 199'));
  expect((await live.reload()).lastError).toMatchObject({ code: 'ERR_COST_OVER_BURST' });
  writeFileSync(defaults, withCount(301));
  expect((await live.reload()).lastError).toBeUndefined();
});

it('a limiter that still needs a limit refuses files without it', async () => {
  const { defaults } = written({ limits: 'A: { count: 1, period: 1s }\n' });
  const { live } = await followed({ defaults }, { everyMs: false }, { A: accountId() });
  writeFileSync(defaults, 'B: { count: 1, period: 1s }\n');
  expect((await live.reload()).lastError?.message).toContain(
    'The limit `A` has a key in code, but is not in the file.',
  );
});
