import { accountId, createLimiter, everyone, memoryStore, type Override } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { load, loadFrom } from '@sluice/core/load';
import { quota } from '@sluice/core/quota';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { flowSettings, runFlow } from '../../src/http/index.ts';
import { plainExchange } from '../support/plain-exchange.ts';
import { RequestTime } from '../support/request-time.ts';
import { settled } from '../support/promises.ts';
import { holdingRemotely, slot } from '../kinds/concurrency/slots/support/holding.ts';
import { RemoteStore } from '../kinds/concurrency/slots/support/remote-store.ts';

const PLENTY = { count: 1_000_000, period: '1h' };
const LIMITS = { Rate: PLENTY, InFlight: { concurrency: 2, expiry: '6s' } };
const rate = [{ limit: 'Rate', id: 'a' }];

function remotely(limits: Readonly<Record<string, object>> = LIMITS, options: object = {}) {
  const time = new RequestTime();
  return { ...holdingRemotely(limits, options, { time, store: new RemoteStore(time) }), time };
}

/** The failure of a decision, once it is there. */
async function failureOf(decided: Promise<{ readonly failure: unknown }>): Promise<unknown> {
  return (await decided).failure;
}

describe('where a timer ends with the request that set it', () => {
  test('each decision keeps its deadline, whoever has left before, beside it and in an earlier outage', async () => {
    const { limiter, store, time } = remotely();
    for (let outage = 0; outage < 2; outage++) {
      store.manner = 'hangs';
      for (let i = 0; i < 4; i++) {
        void time.left(() => limiter.spend(rate));
        const both = [failureOf(limiter.spend(rate)), failureOf(limiter.spend(rate))];
        void time.left(() => limiter.spend(rate));
        await time.pass(50);
        expect(await Promise.all(both)).toMatchObject([{ policy: 'local' }, { policy: 'local' }]);
      }
      store.manner = 'answers';
      await time.pass(100);
      expect(await failureOf(limiter.spend(rate))).toBeUndefined();
    }
  });

  test('a decision that the store answers leaves no timer', async () => {
    const { limiter, time } = remotely();
    await limiter.spend(rate);
    expect(time.pending).toBe(0);
  });

  test('the decisions of requests that have left a minute ago are forgotten', async () => {
    const { limiter, store, time } = remotely();
    store.manner = 'hangs';
    let answered = 0;
    for (let i = 0; i < 3; i++) void time.left(() => limiter.spend(rate)).then(() => answered++);
    await time.pass(61_000);
    store.manner = 'answers';
    await limiter.spend(rate);
    await limiter.close();
    await settled();
    expect(answered).toBe(0);
  });

  test('closing a limiter answers its waiting decisions, and leaves no timer', async () => {
    const { limiter, store, time } = remotely();
    store.manner = 'hangs';
    const waiting = limiter.spend(rate);
    await limiter.close();
    expect([await failureOf(waiting), time.pending]).toMatchObject([{ policy: 'local' }, 0]);
  });

  test('answers of policies never wait for a turn of another request', async () => {
    const { limiter, store, time } = remotely();
    store.manner = new Error('down');
    for (let i = 0; i < 3000; i++) {
      time.step(0.1);
      void time.left(() => limiter.spend(rate));
    }
    const last = failureOf(limiter.spend(rate));
    await settled();
    expect(await last).toMatchObject({ policy: 'local' });
  });

  test('a loop of answers of policies lets the event loop run, although the clock stands still', async () => {
    const { limiter, store, time } = remotely();
    store.manner = new Error('down');
    let answers = 0;
    const loop = async (): Promise<void> => {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      for (; answers < 2000; answers++) await limiter.spend(rate);
    };
    const looping = loop();
    await settled();
    expect(answers).toBeLessThan(1100);
    await time.pass(1);
    await time.pass(1);
    await looping;
  });

  test('the state of the store is logged after a burst of changes, although the timer for it has ended', async () => {
    const lines: string[] = [];
    const { limiter, store, time } = remotely(LIMITS, {
      log: (line: string) => void lines.push(line),
      failure: { deadlineMs: 1 },
    });
    const change = async (manner: Error | 'answers'): Promise<void> => {
      store.manner = manner;
      await time.pass(150);
      for (let i = 0; i < 4; i++) await limiter.spend(rate);
    };
    const bothWays = async (): Promise<void> => {
      await change(new Error('down'));
      await change('answers');
    };
    for (let i = 0; i < 4; i++) await bothWays();
    time.endRequest();
    await time.pass(10_000);
    lines.length = 0;
    await change(new Error('down'));
    expect(lines).toEqual([expect.stringMatching(/The store is failing.*more changes/)]);
  });
});

describe('slots, where a timer ends with the request that set it', () => {
  test('of a request in progress are renewed by its own timer, and those of one that has left expire', async () => {
    const { hold, inStore, time } = remotely();
    await hold(slot());
    await time.left(() => hold(slot()));
    expect(inStore()).toBe(2);
    await time.pass(60_000);
    expect(inStore()).toBe(1);
  });

  test('of this process are free after their expiry when their request has left', async () => {
    const { hold, time } = remotely({ InFlight: { concurrency: 2, scope: 'process', expiry: '6s' } });
    const kept = await hold(slot());
    await time.left(() => hold(slot()));
    await time.pass(5000);
    expect((await hold(slot())).allowed).toBe(false);
    await time.pass(1000);
    expect((await hold(slot())).allowed).toBe(true);
    await kept.release();
    expect((await hold(slot())).allowed).toBe(true);
  });

  test('that a request waited for when it left are not held forever in an outage', async () => {
    const { hold, store, time } = remotely();
    store.manner = 'hangs';
    for (let i = 0; i < 10; i++) void time.left(() => hold(slot()));
    await time.pass(6000);
    const pending = hold(slot());
    await time.pass(50);
    expect(await pending).toMatchObject({ allowed: true, failure: { policy: 'local' } });
  });

  test('of a request that was stalled for longer than the expiry count again', async () => {
    const { hold, store, time } = remotely();
    store.manner = 'slow';
    const pending = [hold(slot()), hold(slot())];
    time.step(7000);
    // The look of another request finds nothing of theirs any more.
    void hold(slot());
    await store.answerSlow();
    store.manner = 'answers';
    expect((await Promise.all(pending)).map(({ allowed }) => allowed)).toEqual([true, true]);
    for (const held of await Promise.all(pending)) await held.release();
  });

  test('of a request that was stalled for longer than the expiry, and is denied then, are counted once', async () => {
    const { hold, store, time } = remotely({ InFlight: { concurrency: 1, expiry: '6s' } });
    store.manner = 'slow';
    const pending = [hold(slot()), hold(slot())];
    time.step(7000);
    pending.push(hold(slot()));
    await store.answerSlow();
    expect((await Promise.all(pending)).map(({ allowed }) => allowed)).toEqual([true, false, false]);
    // In an outage this process counts: the first slot is still held.
    store.manner = new Error('down');
    expect(await hold(slot())).toMatchObject({ allowed: false, failure: { policy: 'local' } });
  });

  test('of this process whose end is unknown are free after their expiry', async () => {
    const limits = { InFlight: { concurrency: 1, scope: 'process', expiry: '6s' } };
    const { limiter, hold, time } = remotely(limits);
    const settings = flowSettings<object, []>({ limiter, slotsUntil: 'response' }, []);
    const exchange = plainExchange({ request: 'a' as unknown as object, onEnd: (done) => void done('unknown') });
    expect(await runFlow(settings, exchange, [])).toBeNull();
    await time.pass(5000);
    expect((await hold(slot())).allowed).toBe(false);
    await time.pass(2000);
    expect((await hold(slot())).allowed).toBe(true);
  });

  test('are held where the runtime has no finalizers', async () => {
    vi.stubGlobal('FinalizationRegistry', undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
    const { hold, inStore } = remotely();
    const held = await hold(slot());
    expect(inStore()).toBe(1);
    await held.release();
    expect(inStore()).toBe(0);
  });
});

describe('where no timer can be set while a module is loaded', () => {
  test('a limiter of all kinds of limits sets none, and loads are read by requests', async () => {
    const time = new RequestTime();
    let used = 0;
    const limiter = createLimiter({
      limits: {
        Rate: { key: everyone(), ...PLENTY },
        Quota: quota({ key: everyone(), count: 9, per: 'day' }),
        Slots: concurrency({ key: everyone(), concurrency: 2 }),
        Load: load({ load: loadFrom(() => used) }),
      },
      store: memoryStore({ time }),
      time,
      log: false,
    });
    expect(time.alarms + time.pending).toBe(0);
    used = 1;
    const shed = (): boolean => !limiter.checkSync([{ limit: 'Load', id: '203.0.113.7' }]).allowed;
    expect(shed()).toBe(false);
    for (let i = 0; i < 60; i++) {
      time.step(1000);
      shed();
    }
    expect([shed(), time.alarms]).toEqual([true, 0]);
    await limiter.close();
  });

  test('`replace` compares all numbers in the request that calls it', () => {
    const time = new RequestTime();
    const ids = Array.from({ length: 20_000 }, (_, i) => `id${i}`);
    const overrides = (count: number) => ({
      Rate: Object.fromEntries(ids.map((id): [string, Override] => [id, { count, period: '1h' }])),
    });
    const limits = { Rate: { key: accountId(), ...PLENTY } };
    const limiter = createLimiter({ limits, overrides: overrides(2), time, log: false });
    limiter.replace({ limits, overrides: overrides(3) });
    expect(time.pending).toBe(0);
  });
});

describe('a limit with `maxWait`, where a timer ends with the request that set it', () => {
  const queue = { burst: 1, count: 1, period: '1s', maxWait: '10s' };

  test('is rejected when it is used, with the reason, and the other limits are not', async () => {
    const { limiter } = remotely({ ...LIMITS, Queue: queue });
    await expect(limiter.spend([{ limit: 'Queue', id: 'a' }])).rejects.toMatchObject({
      code: 'ERR_RUNTIME',
      message: expect.stringMatching(/^Limit "Queue" has a `maxWait`, which this runtime can't keep/),
    });
    expect((await limiter.spend(rate)).allowed).toBe(true);
  });

  test('lets ids through that are unlimited', async () => {
    const { limiter } = remotely({ Queue: queue }, { overrides: { Queue: { vip: 'unlimited' } } });
    expect((await limiter.spend([{ limit: 'Queue', id: 'vip' }])).allowed).toBe(true);
  });

  test('is rejected for the ids that have it by an override', async () => {
    const overrides = { Rate: { slow: queue } };
    const { limiter } = remotely(LIMITS, { overrides });
    await expect(limiter.spend([{ limit: 'Rate', id: 'slow' }])).rejects.toMatchObject({ code: 'ERR_RUNTIME' });
    expect((await limiter.spend(rate)).allowed).toBe(true);
  });
});
