import { SluiceError } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { rejected } from '../../../support/thrown.ts';
import { fill, holding, holdingRemotely, slot } from './support/holding.ts';

const LIMITS = {
  Here: { concurrency: 2, scope: 'process' },
  InFlight: { concurrency: 9 },
  Rate: { count: 9, period: '1h' },
};
const here = (more = {}) => slot({ limit: 'Here', ...more });

test('a limit of this process asks no store and sets no timer', async () => {
  const { hold, limiter, store, time } = holdingRemotely(LIMITS);
  const [first] = await fill(() => hold(here()));
  await limiter.check([here()]);
  expect((await hold(here())).allowed).toBe(false);
  await first?.release();
  expect((await hold(here())).allowed).toBe(true);
  await time.pass(100_000);
  expect(store.named()).toEqual([]);
});

test('with a store that answers at once, and one that does not, the decision is there at once', async () => {
  for (const { limiter } of [holding(LIMITS), holdingRemotely(LIMITS)]) {
    expect(await limiter.spend([here()], { hold: true })).toMatchObject({ allowed: true, remaining: 1 });
  }
});

test('works on a store without slots', () => {
  const { hold } = holding(LIMITS);
  expect(hold(here()).allowed).toBe(true);
});

test('two limiters on one store count apart', async () => {
  const one = holdingRemotely(LIMITS);
  const other = holdingRemotely(
    { There: { concurrency: 2, scope: 'process' } },
    {},
    { time: one.time, store: one.store },
  );
  expect(await fill(() => one.hold(here()))).toHaveLength(2);
  expect(await fill(() => other.hold(slot({ limit: 'There' })))).toHaveLength(2);
});

test('it is decided before the store: when it denies, the store is not asked, and only its results are there', async () => {
  const { hold, store } = holdingRemotely(LIMITS);
  await fill(() => hold(here()));
  const denied = await hold(slot(), slot({ limit: 'Rate' }), here());
  expect(denied).toMatchObject({ outcome: 'denied', limit: 'Here', results: [{ limit: 'Here', allowed: false }] });
  expect(store.named()).toEqual([]);
});

test('while the store is asked, its slots are taken for others', async () => {
  const { hold, store } = holdingRemotely(LIMITS);
  store.manner = 'slow';
  const pending = [hold(here(), slot()), hold(here(), slot())];
  expect(await hold(here())).toMatchObject({ allowed: false, remaining: 0 });
  await store.answerSlow();
  expect((await Promise.all(pending)).map(({ allowed }) => allowed)).toEqual([true, true]);
});

test('it limits in an outage as ever, whatever the other limits do', async () => {
  const { hold, store } = holdingRemotely(LIMITS, { failure: { gateways: 2, onFailure: 'open' } });
  store.manner = new Error('down');
  expect(await fill(() => hold(here(), slot()))).toHaveLength(2);
  expect(await hold(here())).toMatchObject({ outcome: 'denied' });
});

describe('its slot is free again when the store', () => {
  const full = slot({ cost: 9 });
  const works = async (
    store: { manner: unknown },
    hold: (...entries: (typeof full)[]) => Promise<{ allowed: boolean }>,
  ) => {
    store.manner = 'answers';
    expect(await fill(() => hold(here()) as never)).toHaveLength(2);
  };

  test('denies', async () => {
    const { hold, store } = holdingRemotely(LIMITS);
    await hold(full);
    expect(await hold(here(), slot())).toMatchObject({
      outcome: 'denied',
      limit: 'InFlight',
      results: [{ limit: 'Here' }, {}],
    });
    await works(store, hold);
  });

  test('fails, and a limit is closed', async () => {
    const { hold, store } = holdingRemotely(LIMITS, { failure: { onFailure: 'closed' } });
    store.manner = new Error('down');
    expect(await hold(here(), slot())).toMatchObject({ outcome: 'unavailable', limit: 'InFlight', results: [] });
    await works(store, hold);
  });

  test('hangs past its deadline, and the policy denies', async () => {
    const { hold, store, time } = holdingRemotely({ ...LIMITS, InFlight: { concurrency: 1 } });
    await hold(slot());
    store.manner = 'hangs';
    const late = hold(here(), slot());
    await time.pass(50);
    expect(await late).toMatchObject({ outcome: 'denied', limit: 'InFlight' });
    await works(store, hold);
  });

  test('throws that it was used wrongly', async () => {
    const { hold, store } = holdingRemotely(LIMITS);
    store.manner = new SluiceError('ERR_CLOSED', 'closed');
    expect(await rejected(() => hold(here(), slot()))).toMatchObject({ code: 'ERR_CLOSED' });
    await works(store, hold);
  });

  test('is closed, and answers at once', async () => {
    const { limiter, store, hold } = holding(LIMITS);
    store.close();
    await expect(limiter.spend([here({ cost: 2 }), slot()], { hold: true })).rejects.toThrow('closed');
    expect(hold(here({ cost: 2 })).allowed).toBe(true);
  });
});
