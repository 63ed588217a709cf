import { writeFileSync } from 'node:fs';
import { accountId, clientNetwork, createLimiter, everyone, type Limits, type Limiter } from '@sluice/core';
import { load as loadLimit, type LoadSource } from '@sluice/core/load';
import { checkLimits, loadLimits } from '@sluice/config';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../../test/collect-garbage.ts';
import { EventLoops } from '../src/load/event-loops.ts';
import { watched } from './watched.ts';
import { LIMITS, written } from './written-files.ts';

const CLIENT = '203.0.113.7';
const LOAD = 'Worker: { load: eventLoop }\n';

async function sheds(limiter: Limiter, id = CLIENT, limit = 'Worker'): Promise<boolean> {
  return !(await limiter.check([{ limit, id }])).allowed;
}

function loadOf(limits: Limits, name = 'Worker'): LoadSource | undefined {
  return (limits[name] as { load?: LoadSource } | undefined)?.load;
}

function levelOf(limits: Limits, name = 'Worker'): number {
  return loadOf(limits, name)?.level ?? Number.NaN;
}

/** A watched limiter whose only limits are those of a file, without keys in code. */
async function watchedFile(text: string) {
  const { defaults } = written({ limits: text });
  const subject = await watched({ defaults }, { everyMs: false }, {});
  const { live } = subject;
  const rewrite = (next: string) => (writeFileSync(defaults, next), live.reload());
  return { ...subject, rewrite };
}

it('a load limit needs no key in code: its clients are told apart by their network', async () => {
  const { defaults } = written({ limits: LOAD });
  const { limits } = await loadLimits({ defaults, keys: {} });
  expect(limits['Worker']?.key?.format).toEqual({ ...clientNetwork().format, canonical: expect.any(Function) });
  const limiter = createLimiter({ limits });
  await expect(limiter.check([{ limit: 'Worker', id: 'ann' }])).rejects.toThrow('must be an IPv4 address');
});

it('a load limit has the key that code gives it', async () => {
  const { defaults } = written({ limits: 'Worker: { load: eventLoop, idFormat: accountId }\n' });
  const key = accountId();
  expect((await loadLimits({ defaults, keys: { Worker: key } })).limits['Worker']).toEqual(
    loadLimit({
      key,
      load: expect.objectContaining({ level: 0 }),
    }),
  );
});

it.each([
  ['a file', LOAD],
  ['data', { Worker: { load: 'eventLoop' } }],
  ['data with options', { Worker: { load: { busy: 0.8, every: '250ms' } } }],
  ['a text that is parsed in a thread', `${LOAD}${'# comment\n'.repeat(1000)}`],
])('%s makes a busy worker deny clients', async (_, content) => {
  const loaded = await loadLimits({ defaults: () => content, keys: {} });
  const time = new FakeTime();
  const limiter = createLimiter({ ...loaded, time, log: false });
  expect(await sheds(limiter)).toBe(false);
  time.advance(10_000);
  expect(await sheds(limiter)).toBe(true);
});

it('the options of a load have the effect that they have in code', async () => {
  const text =
    'Slow: { load: { rise: 10s, every: 1s } }\nFast: { load: { rise: 500ms } }\nMean: { load: { classes: 4 } }\n';
  const loaded = await loadLimits({ defaults: () => text, keys: {} });
  const time = new FakeTime();
  createLimiter({ ...loaded, time, log: false });
  time.advance(3000);
  expect(levelOf(loaded.limits, 'Fast')).toBe(1);
  expect(levelOf(loaded.limits, 'Slow')).toBeCloseTo(0.3, 5);
  expect(levelOf(loaded.limits, 'Mean')).toBe(0.75);
});

it('overrides let ids through, or deny them at any level', async () => {
  const { defaults, overrides } = written({
    limits: LOAD,
    overrides: '- Worker: { unlimited: true, ids: [10.0.0.0/8] }\n- Worker: { blocked: true, ids: [192.0.2.1] }\n',
  });
  const { limiter, time } = await watched({ defaults, overrides }, { everyMs: false }, {});
  expect(await sheds(limiter, '192.0.2.1')).toBe(true);
  time.advance(10_000);
  expect(await sheds(limiter)).toBe(true);
  expect(await sheds(limiter, '10.1.2.3')).toBe(false);
});

it('limits with equal options have one level, however they are written', async () => {
  const text = `${LOAD}Same: { load: { rise: 3000ms, calm: 0.7 } }\n`;
  const { limits } = await loadLimits({ defaults: () => text, keys: {} });
  expect(loadOf(limits, 'Same')).toBe(loadOf(limits));
});

it.each(['calm: 0.6', 'busy: 0.9', 'rise: 4s', 'fall: 61s', 'every: 1s', 'classes: 1'])(
  'a limit with the option %s has a level of its own',
  async (option) => {
    const { limits } = await loadLimits({ defaults: () => `${LOAD}Other: { load: { ${option} } }\n`, keys: {} });
    expect(loadOf(limits, 'Other')).not.toBe(loadOf(limits));
  },
);

it('limits that were loaded apart have levels of their own', async () => {
  const load = async () => loadOf((await loadLimits({ defaults: () => LOAD, keys: {} })).limits);
  expect(await load()).not.toBe(await load());
});

describe('after a reload', () => {
  it('the level goes on where the options are the same', async () => {
    const { limiter, loaded, time, rewrite } = await watchedFile(LOAD);
    time.advance(3000);
    const level = levelOf(loaded.limits);
    expect(level).toBeGreaterThan(0.5);
    await rewrite(`${LOAD}More: { load: { busy: 0.9 } }\n`);
    await rewrite('Worker: { load: { busy: 0.8 }, disabled: false }\n');
    expect(levelOf(loaded.limits)).toBe(level);
    time.advance(10_000);
    expect(await sheds(limiter)).toBe(true);
  });

  it('the level goes on for a limit with another name', async () => {
    const { limiter, time, rewrite } = await watchedFile(LOAD);
    time.advance(10_000);
    await rewrite('Process: { load: eventLoop }\n');
    expect(await sheds(limiter, CLIENT, 'Process')).toBe(true);
  });

  it('the level goes on after content that was rejected', async () => {
    const { limiter, time, rewrite } = await watchedFile(LOAD);
    time.advance(10_000);
    expect((await rewrite('Worker: { load: { busy: 8 } }\n')).lastError?.message).toContain('must be a number above 0');
    expect(await sheds(limiter)).toBe(true);
    await rewrite(LOAD);
    expect(await sheds(limiter)).toBe(true);
  });

  it('other options begin at the level 0, and the old timer is gone', async () => {
    const { limiter, loaded, time, rewrite } = await watchedFile(LOAD);
    time.advance(10_000);
    await rewrite('Worker: { load: { busy: 0.9, every: 500ms } }\n');
    expect(await sheds(limiter)).toBe(false);
    expect(levelOf(loaded.limits)).toBe(0);
    time.advance(10_000);
    expect(await sheds(limiter)).toBe(true);
    expect(levelOf(loaded.limits)).toBe(0);
  });

  it('a limit that is disabled is a kill switch', async () => {
    const { limiter, loaded, time, rewrite } = await watchedFile(LOAD);
    time.advance(10_000);
    await rewrite('Worker: { load: eventLoop, disabled: true }\n');
    expect(await sheds(limiter)).toBe(false);
    await rewrite(LOAD);
    expect(levelOf(loaded.limits)).toBe(0);
    time.advance(10_000);
    expect(await sheds(limiter)).toBe(true);
  });

  it('a file may have a load limit more, without a change of code', async () => {
    const { defaults } = written({ limits: 'Rate: { count: 1, period: 1s }\n' });
    const { limiter, live, time } = await watched({ defaults }, { everyMs: false }, { Rate: everyone() });
    writeFileSync(defaults, `Rate: { count: 1, period: 1s }\n${LOAD}`);
    await live.reload();
    time.advance(10_000);
    expect(await sheds(limiter)).toBe(true);
  });

  it('a load limit without a key can not become a rate', async () => {
    const { limiter, time, rewrite } = await watchedFile(LOAD);
    const { lastError } = await rewrite('Worker: { count: 1, period: 1s }\n');
    expect(lastError?.message).toContain(':1:1: The limit `Worker` has no key in code.');
    time.advance(10_000);
    expect(await sheds(limiter)).toBe(true);
  });
});

describe('without code', () => {
  const problems = async (limits: string, overrides = '[]') =>
    (await checkLimits({ defaults: () => limits, overrides: () => overrides })).map(({ text }) => text);

  it('ids of a load limit are client networks unless it has an idFormat', async () => {
    const listed = (id: string) => `- Worker: { unlimited: true, ids: [${id}] }\n`;
    expect(await problems(LOAD, listed('203.0.113.0/24'))).toEqual([]);
    expect(await problems(LOAD, listed('ann'))).toEqual([
      expect.stringMatching(/^overrides:1:36: .* must be an IPv4 address/),
    ]);
    expect(await problems('Worker: { load: eventLoop, idFormat: accountId }\n', listed('ann'))).toEqual([]);
  });

  it('a load limit that has the key everyone is not a pool either', async () => {
    const borrow = '{ from: Worker, ceiling: { count: 2, period: 1s } }';
    const text = `Worker: { load: eventLoop, idFormat: everyone }\nA: { count: 1, period: 1s, idFormat: accountId, borrow: ${borrow} }\n`;
    expect(await problems(text)).toEqual([
      expect.stringMatching(/^defaults:2:65: `A.borrow.from` must be a rate, not a load limit/),
    ]);
  });

  it('a limit of another kind with overrides still needs an idFormat', async () => {
    const overrides = '- NewOrdersPerAccount: { unlimited: true, ids: [1] }\n';
    expect(await problems(LIMITS, overrides)).toEqual([
      expect.stringContaining('`NewOrdersPerAccount` needs an idFormat'),
    ]);
  });
});

it('event loops that no limit uses any more are garbage, and are forgotten', async () => {
  const loops = new EventLoops();
  const kept = loops.of({});
  // In a function of its own, whose frame keeps nothing alive.
  const use = (busy: number) => new WeakRef(loops.of({ busy }));
  const unused = use(0.9);
  expect(loops.size).toBe(2);
  await collectGarbage(() => unused.deref() === undefined);
  expect(unused.deref()).toBeUndefined();
  use(0.95);
  expect(loops.size).toBe(2);
  expect(loops.of({})).toBe(kept);
});
