import { loadFrom, type LoadSource } from '@sluice/core/load';
import { describe, expect, test } from 'vitest';
import { thrown } from '../../support/thrown.ts';
import { holding, holdingRemotely, limitsOf, slot } from '../concurrency/slots/support/holding.ts';

/** A source whose level a test sets, and that counts its users. */
class GivenLoad implements LoadSource {
  level = 0;
  readonly users: string[] = [];
  /** How often it was asked. */
  asked = 0;

  start({ limit }: Parameters<LoadSource['start']>[0]) {
    this.users.push(limit);
    return {
      sheds: (id: string, share: number) => {
        this.asked++;
        return this.level > 0 && share <= this.level && !id.startsWith('10.');
      },
      retryAfterMs: (id: string) => (id === '1.1.1.1' ? 30_000 : 20_000),
      stop: () => void this.users.splice(this.users.indexOf(limit), 1),
    };
  }
}

function loaded(load = new GivenLoad()) {
  const worker = { key: undefined, load };
  return {
    load,
    limits: {
      Worker: worker,
      InFlight: { concurrency: 9 },
      Here: { concurrency: 9, scope: 'process' },
      Rate: { count: 9, period: '1h' },
    },
  };
}

const worker = (more = {}) => slot({ limit: 'Worker', id: '1.1.1.1', ...more });

describe('a busy worker', () => {
  test('denies before any other limit is asked: nothing is taken anywhere, and only the load is in the results', async () => {
    const { load, limits } = loaded();
    const { limiter, hold, store } = holdingRemotely(limits);
    load.level = 1;
    const denied = await hold(slot({ limit: 'Rate' }), slot({ limit: 'Here' }), worker(), slot());
    expect(denied).toMatchObject({
      outcome: 'denied',
      allowed: false,
      blocked: false,
      limit: 'Worker',
      id: '1.1.1.1',
      remaining: 0,
      retryAfterMs: 30_000,
      resetAfterMs: 30_000,
      delayMs: 0,
    });
    expect(denied.results).toMatchObject([
      { limit: 'Worker', allowed: false, blocked: false, spent: 0, remaining: 0, retryAfterMs: 30_000, hidden: true },
    ]);
    expect(denied.failure).toBeUndefined();
    expect(store.named()).toEqual([]);
    expect(await limiter.check([slot({ limit: 'Here' })])).toMatchObject({ remaining: 9 });
    await denied.release();
    expect(await limiter.refund(denied)).toEqual([]);
  });

  test('denies `spend` and `check` too', async () => {
    const { load, limits } = loaded();
    const { limiter } = holding(limits);
    load.level = 1;
    for (const call of ['spend', 'check'] as const) {
      expect((await limiter[call]([worker(), slot({ limit: 'Rate' })])).limit).toBe('Worker');
    }
    await expect(limiter.spend([worker()], { wait: true })).resolves.toMatchObject({ outcome: 'denied' });
  });

  test('has the longest wait of several loads', () => {
    const [one, other] = [new GivenLoad(), new GivenLoad()];
    const { limiter } = holding({ One: { key: undefined, load: one }, Other: { key: undefined, load: other } });
    one.level = other.level = 1;
    const entries = [slot({ limit: 'One', id: '2.2.2.2' }), slot({ limit: 'Other', id: '1.1.1.1' })];
    for (const batch of [entries, entries.toReversed()]) {
      const denied = limiter.spendSync(batch);
      expect([denied.limit, denied.retryAfterMs, denied.results.length]).toEqual(['Other', 30_000, 2]);
    }
    other.level = 0;
    expect(limiter.spendSync(entries)).toMatchObject({ limit: 'One', results: [{ limit: 'One' }] });
  });

  test('passes a request with a larger share, and one that costs nothing', () => {
    const { load, limits } = loaded();
    const { limiter } = holding(limits);
    load.level = 0.5;
    const passes = (more: object) => limiter.spendSync([worker(more)]).allowed;
    expect([passes({ share: 0.5 }), passes({ share: 0.51 }), passes({})]).toEqual([false, true, true]);
    expect([passes({ share: 0.5, cost: 0 }), passes({ share: 0.01, id: '10.0.0.1' })]).toEqual([true, true]);
  });

  test('never denies a `spend-only`', () => {
    const { load, limits } = loaded();
    const { limiter } = holding(limits);
    load.level = 1;
    expect(limiter.spendSync([worker({ mode: 'spend-only' })]).allowed).toBe(true);
    expect(limiter.spendSync([worker({ mode: 'check-only' })]).allowed).toBe(false);
  });

  test('denies no id that an override makes unlimited, and a blocked one is denied forever', () => {
    const { load, limits } = loaded();
    const { limiter } = holding(limits, { overrides: { Worker: { '2.2.2.2': 'unlimited', '3.3.3.3': 'blocked' } } });
    expect(limiter.spendSync([worker({ id: '3.3.3.3' })])).toMatchObject({ blocked: true, retryAfterMs: Infinity });
    load.level = 1;
    expect(limiter.spendSync([worker({ id: '2.2.2.2' })]).allowed).toBe(true);
  });
});

describe('a worker that is not busy', () => {
  test('decides by the other limits alone, and is not in the results', async () => {
    const { limits } = loaded();
    const { hold } = holding(limits);
    expect((await hold(worker(), slot(), slot({ limit: 'Rate' }))).results.map(({ limit }) => limit)).toEqual([
      'InFlight',
      'Rate',
    ]);
  });

  test('with no other limit lets through, as with no limit at all', () => {
    const { limits } = loaded();
    const { limiter } = holding(limits);
    expect(limiter.spendSync([worker()])).toMatchObject({
      allowed: true,
      limit: null,
      remaining: Infinity,
      results: [],
    });
  });
});

test('the load is asked once for each request, and before the store of an outage', async () => {
  const { load, limits } = loaded();
  const { hold, store } = holdingRemotely(limits, { failure: { onFailure: 'closed' } });
  store.manner = new Error('down');
  expect(await hold(worker(), slot())).toMatchObject({ outcome: 'unavailable' });
  load.level = 1;
  expect(await hold(worker(), slot())).toMatchObject({ outcome: 'denied', limit: 'Worker' });
  expect(load.asked).toBe(2);
});

describe('the use of a source', () => {
  test('begins with the limiter and ends with it', async () => {
    const { load, limits } = loaded();
    const { limiter } = holding(limits);
    expect(load.users).toEqual(['Worker']);
    await limiter.close();
    expect(load.users).toEqual([]);
  });

  test('is one for each limit that has it', async () => {
    const load = new GivenLoad();
    const { limiter } = holding({ One: { key: undefined, load }, Other: { key: undefined, load } });
    expect(load.users).toEqual(['One', 'Other']);
    limiter.replace({ limits: limitsOf({ Other: { key: undefined, load } }) });
    expect(load.users).toEqual(['Other']);
    load.level = 1;
    expect(limiter.spendSync([slot({ limit: 'Other', id: '1.1.1.1' })]).allowed).toBe(false);
  });

  test('changes with `replace`: the old source ends, the new one begins, and one that stays is not started again', () => {
    const [old, fresh] = [new GivenLoad(), new GivenLoad()];
    const { limiter } = holding(loaded(old).limits);
    limiter.replace({ limits: limitsOf(loaded(old).limits) });
    expect(old.users).toEqual(['Worker']);
    limiter.replace({ limits: limitsOf(loaded(fresh).limits) });
    expect([old.users, fresh.users]).toEqual([[], ['Worker']]);
    old.level = 1;
    expect(limiter.spendSync([worker()]).allowed).toBe(true);
    fresh.level = 1;
    expect(limiter.spendSync([worker()]).allowed).toBe(false);
    limiter.replace({ limits: limitsOf({ Worker: { concurrency: 1 } }) });
    expect(fresh.users).toEqual([]);
  });

  test('keeps its level when `replace` gives its limit another name', () => {
    const load = loadFrom(() => 1);
    const { limiter, time } = holding({ Worker: { key: undefined, load } });
    time.advance(2000);
    const { level } = load;
    expect(level).toBeGreaterThan(0);
    limiter.replace({ limits: limitsOf({ Process: { key: undefined, load } }) });
    expect(load.level).toBe(level);
    limiter.replace({ limits: limitsOf({}) });
    expect(load.level).toBe(0);
  });

  test('does not begin when the new limits are not valid', () => {
    const [old, fresh] = [new GivenLoad(), new GivenLoad()];
    const { limiter } = holding(loaded(old).limits);
    expect(() =>
      limiter.replace({ limits: limitsOf({ Worker: { load: fresh }, Bad: { count: 0, period: '1s' } }) }),
    ).toThrow('limits.Bad');
    expect([old.users, fresh.users]).toEqual([['Worker'], []]);
  });

  test('ends while the limit is disabled, which lets all through', () => {
    const load = new GivenLoad();
    const { limiter } = holding({ Worker: { load, disabled: true } });
    load.level = 1;
    expect(load.users).toEqual([]);
    expect(limiter.spendSync([worker()]).allowed).toBe(true);
    limiter.replace({ limits: limitsOf({ Worker: { load } }) });
    expect(load.users).toEqual(['Worker']);
    expect(limiter.spendSync([worker()]).allowed).toBe(false);
    limiter.replace({ limits: limitsOf({ Worker: { load, disabled: true } }) });
    expect(load.users).toEqual([]);
  });

  test('of a limit that was removed while an override was awaited is over: the request passes', async () => {
    let answer!: (numbers: undefined) => void;
    const load = new GivenLoad();
    const overrides = () => new Promise<undefined>((resolve) => (answer = resolve));
    const { limiter } = holding({ Worker: { load } }, { overrides });
    load.level = 1;
    const pending = limiter.spend([worker({ id: 'a' })]);
    limiter.replace({ limits: limitsOf({}) });
    answer(undefined);
    expect(await pending).toMatchObject({ allowed: true, results: [] });
  });
});

test.each([
  ['onFailure', 'closed', 'a load limit asks no store'],
  ['hidden', false, 'header fields never mention a load limit'],
])('the setting %s of other limits is an error', (name, value, why) => {
  const error = thrown(() => holding({ Worker: { key: undefined, load: () => 0, [name]: value } }));
  expect(error.code).toBe('ERR_LIMIT');
  expect(error.message).toBe(`\`limits.Worker.${name}\` must be left out beside \`load\`: ${why}.`);
});

test('a function is a load, and its signal raises the level with time', () => {
  let busy = 0;
  const { limiter, time } = holding({ Worker: { key: undefined, load: loadFrom(() => busy) } });
  const denials = () => {
    const ids = Array.from({ length: 200 }, (_, i) => `5.5.${i}.1`);
    return ids.filter((id) => !limiter.spendSync([worker({ id })]).allowed).length;
  };
  time.advance(20_000);
  expect(denials()).toBe(0);
  busy = 1;
  time.advance(20_000);
  expect(denials()).toBe(200);
  busy = 0;
  time.advance(120_000);
  expect(denials()).toBe(0);
});
