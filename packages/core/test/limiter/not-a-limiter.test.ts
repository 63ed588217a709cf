import { createLimiter, memoryStore, type Limiter } from '@sluice/core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { placeOf } from '../../src/runtime/copy.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const limits = accountLimits({ Orders: { count: 5, period: '1s' } });
const limiter = createLimiter({ limits, store: memoryStore() });

const complaintAbout = (value: unknown): string => {
  const error = thrown(() => coreOf(value as Limiter));
  expect(error.code).toBe('ERR_OPTION');
  return error.message;
};

describe('a limiter that the user has wrapped is rejected with what to use instead:', () => {
  const methods = ['spend', 'check', 'charge', 'refund', 'reset', 'replace', 'status', 'close'] as const;
  test.each<[what: string, wrapped: unknown]>([
    ['a Proxy', new Proxy(limiter, {})],
    ['a Proxy with traps', new Proxy(limiter, { get: (target, name) => Reflect.get(target, name, target) as unknown })],
    ['an object of the same methods', Object.fromEntries(methods.map((name) => [name, () => undefined]))],
    ['an object that inherits from it', Object.create(limiter)],
    ['a copy of its methods', { spend: limiter.spend.bind(limiter), check: limiter.check.bind(limiter) }],
    ['a mock', { spend: () => ({ allowed: true }) }],
  ])('%s', (_, wrapped) => {
    const message = complaintAbout(wrapped);
    expect(message).toMatch(
      /^`limiter` must be what createLimiter returned, but was another object: .+\. A wrapper around a limiter does not work, because a middleware uses more than its public methods\. /,
    );
    expect(message).toContain('To see its decisions, give createLimiter `onDecision`; to see failures, `onEvent`.');
    expect(message).toContain('FakeTime');
    expect(message).not.toContain('copies');
  });
});

test.each([[undefined], [null], [{}], ['limiter'], [() => limiter]])(
  'a value that is not a limiter is rejected: %o',
  (value) => {
    expect(complaintAbout(value)).toMatch(
      /^`limiter` must be made by createLimiter, but was .*\. For example const limiter = createLimiter\(\{ limits: \{ … \} \}\)\.$/,
    );
  },
);

test('an object whose properties can’t be read is rejected', () => {
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error('boom');
      },
    },
  );
  expect(complaintAbout(hostile)).toContain('must be made by createLimiter');
});

test('a copy in a bundle that knows no URL has a place, too', () => {
  expect(placeOf('file:///app/node_modules/@sluice/core/dist/shared-part.js')).toBe(
    'file:///app/node_modules/@sluice/core/dist/',
  );
  expect(placeOf(undefined)).toBe('a bundle');
});

describe('with a second copy of the package in the process', () => {
  let other: typeof import('@sluice/core');

  beforeAll(async () => {
    // What is built, beside the sources that this test runs on: two real copies.
    other = (await import(new URL('../../dist/index.js', import.meta.url).href)) as typeof import('@sluice/core');
  });

  test('a limiter of another copy of the package is rejected with the locations of both', () => {
    const made = other.createLimiter({ limits: { Orders: { key: other.accountId(), count: 5, period: '1s' } } });
    const message = complaintAbout(made);
    expect(message).toMatch(
      /^`limiter` must be made by createLimiter of the same copy of @sluice\/core, but two copies are loaded: it is from file:\S+\/packages\/core\/dist\/, this is file:\S+\/packages\/core\/src\/\. /,
    );
    expect(message).toContain('npm ls @sluice/core');
    expect(complaintAbout(new Proxy(made, {}))).toContain('two copies are loaded');
  });

  test('a limiter of this copy that was wrapped is not taken for another copy’s', () => {
    expect(complaintAbout(new Proxy(limiter, {}))).not.toContain('copies');
  });
});

test('a limiter of the same files, loaded a second time as by the bundles of Next.js, is rejected with what to share', async () => {
  vi.resetModules();
  const again = await import('@sluice/core');
  const made = again.createLimiter({ limits: { Orders: { key: again.accountId(), count: 5, period: '1s' } } });
  const message = complaintAbout(made);
  expect(message).toMatch(
    /^`limiter` must be made by createLimiter of the same copy of @sluice\/core, but file:\S+\/packages\/core\/src\/ is loaded twice, as by Next\.js/,
  );
  expect(message).toContain('Make a limiter in each bundle, and let all use one store');
});
