import { accountId, memoryStore } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import type { Framework } from '../framework.ts';
import { stillLimiter, userKey } from '../limiters.ts';

/** Options that are wrong: each is an error when the middleware is made, never a default. */
export function optionCases(framework: Framework): void {
  const complaintAbout = (options: unknown): { code: string; message: string } => {
    try {
      framework.make(options);
    } catch (error) {
      return error as never;
    }
    throw new Error('It was taken.');
  };
  const inline = { count: 10, period: '1m' };
  const shared = () => ({
    limiter: stillLimiter({
      limits: {
        A: { key: userKey, count: 10, period: '1m' },
        B: { key: userKey, count: 10, period: '1m' },
        NoSource: { key: accountId(), count: 10, period: '1m' },
      },
      overrides: { B: { ann: { count: 3, period: '1m' } } },
    }),
    limits: ['A'],
  });

  describe('names of other libraries are errors that name ours', () => {
    test.each([
      ['windowMs', 60_000, "period: '1m'"],
      ['timeWindow', '1 minute', "period: '1m'"],
      ['ttl', 60_000, "period: '1m'"],
      ['duration', 60, 'milliseconds, not seconds'],
      ['max', 100, '`count`'],
      ['limit', 100, '`count`'],
      ['points', 100, '`count`'],
      ['keyGenerator', () => 'ann', '`key`'],
      ['id', () => 'ann', '`key`'],
      ['allowList', ['127.0.0.1'], "'unlimited'"],
      ['whitelist', ['127.0.0.1'], "'unlimited'"],
      ['handler', () => undefined, '`onDenied`'],
      ['message', 'Slow down', '`onDenied`'],
      ['statusCode', 420, '`onDenied`'],
      ['errorResponseBuilder', () => ({}), '`onDenied`'],
      ['onExceeded', () => undefined, '`onDecision`'],
      ['onLimitReached', () => undefined, '`onDecision`'],
      ['standardHeaders', true, "fields: 'draft-11'"],
      ['legacyHeaders', true, "fields: 'legacy'"],
      ['headers', {}, '`fields`'],
      ['addHeaders', {}, '`fields`'],
      ['disableHeader', true, '`fields: false`'],
      ['skipSuccessfulRequests', true, '`settle`'],
      ['skipFailedRequests', true, '`settle`'],
      ['requestWasSuccessful', () => true, '`settle`'],
      ['ipv6Subnet', 56, 'ipv6PrefixLength'],
      ['passOnStoreError', true, "onFailure: 'open'"],
      ['skipOnError', true, "onFailure: 'open'"],
      ['redis', {}, 'store: redisStore({ client })'],
      ['storeClient', {}, 'store: redisStore({ client })'],
      ['driver', 'redis', '`store`'],
      ['db', {}, '`store`'],
      ['blacklist', [], "'blocked'"],
      ['blockDuration', 60, 'no counterpart'],
      ['ban', 3, 'no counterpart'],
      ['weight', 2, '`cost`'],
      ['trustProxy', true, '`trustedProxies`'],
      ['proxy', true, '`trustedProxies`'],
    ])('%s', (name, value, ours) => {
      const { code, message } = complaintAbout({ ...inline, [name]: value });
      expect(code).toBe('ERR_UNKNOWN_OPTION');
      expect(message).toContain(`\`${name}\``);
      expect(message).toContain(ours);
    });
  });

  test.each([
    ['no options', undefined, 'ERR_OPTION', 'an object, but was undefined'],
    ['null', null, 'ERR_OPTION', 'an object, but was null'],
    ['an array', [], 'ERR_OPTION', 'an object'],
    ['a number', 100, 'ERR_OPTION', 'an object, but was 100'],
    ['a typo', { ...inline, peroid: '1m' }, 'ERR_UNKNOWN_OPTION', 'Did you mean `period`'],
    ['no count', { period: '1m' }, 'ERR_OPTION', '`rateLimit.count`'],
    ['a count of 0', { ...inline, count: 0 }, 'ERR_OPTION', 'but was 0'],
    ['no period', { count: 10 }, 'ERR_DURATION', '`rateLimit.period`'],
    ['a period without unit', { count: 10, period: '60' }, 'ERR_DURATION', "'60'"],
    ['a fractional burst', { ...inline, burst: 1.5 }, 'ERR_OPTION', 'but was 1.5'],
    ['a name with a space', { ...inline, name: 'Per user' }, 'ERR_LIMIT', '`name`'],
    ['an empty name', { ...inline, name: '' }, 'ERR_LIMIT', '`name`'],
    ['a store without a name', { ...inline, store: memoryStore() }, 'ERR_OPTION', '`name` must be given with a store'],
    ['a store that is none', { ...inline, name: 'A', store: {} }, 'ERR_OPTION', '`store`'],
    ['a function as a key', { ...inline, key: () => 'ann' }, 'ERR_KEY', 'accountId((req) =>'],
    ['a key without a source', { ...inline, key: accountId() }, 'ERR_KEY', 'has no function'],
    ['a cost above the burst', { ...inline, cost: 11 }, 'ERR_COST_OVER_BURST', 'at most 10'],
    ['a negative cost', { ...inline, cost: -1 }, 'ERR_COST', 'but was -1'],
    ['a fractional cost', { ...inline, cost: 0.5 }, 'ERR_COST', 'but was 0.5'],
    ['a cost as text', { ...inline, cost: '2' }, 'ERR_COST', "but was '2'"],
    ['an unknown mode', { ...inline, mode: 'check' }, 'ERR_OPTION', "'check-only'"],
    [
      'a settleAborted that is no boolean',
      { ...inline, settle: () => 1, settleAborted: 1 },
      'ERR_OPTION',
      'settleAborted',
    ],
    ['a settleAborted without a settle', { ...inline, settleAborted: true }, 'ERR_OPTION', 'settle` must be given'],
    ['a settle that is no function', { ...inline, settle: 1 }, 'ERR_OPTION', 'settle'],
    ['a skip that is no function', { ...inline, skip: '/health' }, 'ERR_OPTION', '`skip` must be a function'],
    ['a shadow that is no boolean', { ...inline, shadow: 'yes' }, 'ERR_OPTION', '`shadow` must be true or false'],
    ['limitPreflight that is no boolean', { ...inline, limitPreflight: 1 }, 'ERR_OPTION', '`limitPreflight`'],
    ['an unknown dialect', { ...inline, fields: 'draft-8' }, 'ERR_OPTION', "'draft-11' or 'draft-7'"],
    ['fields: true', { ...inline, fields: true }, 'ERR_OPTION', '`fields`'],
    ['a jitter above 0.03', { ...inline, retryJitter: 0.1 }, 'ERR_OPTION', 'from 0 to 0.03'],
    ['a negative jitter', { ...inline, retryJitter: -0.01 }, 'ERR_OPTION', 'from 0 to 0.03'],
    ['an onDecision that is no function', { ...inline, onDecision: true }, 'ERR_OPTION', '`onDecision`'],
    ['an onDenied that is no function', { ...inline, onDenied: { error: 'no' } }, 'ERR_OPTION', '`onDenied`'],
    ['a proxy that is no CIDR', { ...inline, trustedProxies: ['10.0.0.0/33'] }, 'ERR_CIDR', '10.0.0.0/33'],
    ['an override of a wrong id', { ...inline, overrides: { ann: 'unlimited' } }, 'ERR_OVERRIDE', "'ann'"],
    ['an unknown failure policy', { ...inline, onFailure: 'fail' }, 'ERR_OPTION', 'onFailure'],
    ['limits without a limiter', { limits: ['A'] }, 'ERR_UNKNOWN_OPTION', '`limits`'],
    ['a limiter that is none', { limiter: {}, limits: ['A'] }, 'ERR_OPTION', 'made by createLimiter'],
    ['a limiter that is undefined', { limiter: undefined }, 'ERR_OPTION', 'made by createLimiter'],
  ])('%s', (_what, options, code, says) => {
    const complaint = complaintAbout(options);
    expect(complaint).toMatchObject({ name: 'SluiceError', code });
    expect(complaint.message).toContain(says.replace('rateLimit', framework.caller ?? 'rateLimit'));
  });

  test.each([
    ['no limits where the limiter has several', { limits: undefined }, 'ERR_OPTION', "limits: ['A', 'B', 'NoSource']"],
    ['no limit at all', { limits: [] }, 'ERR_OPTION', 'at least one limit'],
    ['limits as a text', { limits: 'A' }, 'ERR_OPTION', 'at least one limit'],
    ['a limit that is not defined', { limits: ['C'] }, 'ERR_UNKNOWN_LIMIT', "'C'. Limits: A, B, NoSource"],
    ['a name in another case', { limits: ['a'] }, 'ERR_UNKNOWN_LIMIT', "'a'"],
    ['a limit that is null', { limits: [null] }, 'ERR_OPTION', 'an object, but was null'],
    ['a limit without a name', { limits: [{ cost: 1 }] }, 'ERR_UNKNOWN_LIMIT', 'undefined'],
    ['the same limit twice', { limits: ['A', { limit: 'A', cost: 2 }] }, 'ERR_DUPLICATE_BUCKET', 'sum of the costs'],
    ['a limit whose key has no source', { limits: ['NoSource'] }, 'ERR_KEY', 'has no function'],
    ['an unknown option of a limit', { limits: [{ limit: 'A', weight: 2 }] }, 'ERR_UNKNOWN_OPTION', '`cost`'],
    ['a cost above the burst', { limits: [{ limit: 'A', cost: 11 }] }, 'ERR_COST_OVER_BURST', 'at most 10'],
    [
      'a cost above the burst of an override',
      { limits: [{ limit: 'B', cost: 4 }] },
      'ERR_COST_OVER_BURST',
      'at most 3',
    ],
    ['numbers beside a limiter', { count: 10 }, 'ERR_UNKNOWN_OPTION', 'createLimiter'],
    ['a store beside a limiter', { store: memoryStore() }, 'ERR_UNKNOWN_OPTION', 'createLimiter'],
    ['trustedProxies beside a limiter', { trustedProxies: [] }, 'ERR_UNKNOWN_OPTION', 'createLimiter'],
    ['a cost beside a limiter', { cost: 2 }, 'ERR_UNKNOWN_OPTION', "limits: [{ limit: 'Name', cost"],
    ['one limit instead of limits', { limit: 'A' }, 'ERR_UNKNOWN_OPTION', "limits: ['Name']"],
  ])('with a limiter: %s', (_what, options, code, says) => {
    const complaint = complaintAbout({ ...shared(), ...options });
    expect(complaint).toMatchObject({ name: 'SluiceError', code });
    expect(complaint.message).toContain(says);
  });

  test('one name in two limits with other numbers on one store', () => {
    const store = memoryStore();
    framework.make({ ...inline, name: 'Requests', store });
    const error = complaintAbout({ ...inline, count: 11, name: 'Requests', store });
    expect(error.code).toBe('ERR_LIMIT_IN_USE');
    expect(error.message).toMatch(/It was made at .*[\\/]test[\\/]/);
  });

  test('options that were rejected leave their name free on the store', () => {
    const store = memoryStore();
    const named = { ...inline, name: 'Requests', store };
    expect(complaintAbout({ ...named, cost: 11 }).code).toBe('ERR_COST_OVER_BURST');
    expect(complaintAbout({ ...named, mode: 'check' }).code).toBe('ERR_OPTION');
    expect(complaintAbout({ ...named, key: accountId() }).code).toBe('ERR_KEY');
    expect(() => framework.make({ ...named, cost: 10 })).not.toThrow();
    expect(complaintAbout({ ...named, count: 11 }).code).toBe('ERR_LIMIT_IN_USE');
  });

  test('replace rejects limits that a middleware could not use, and the old limits stay in use', async () => {
    const key = userKey;
    const limiter = stillLimiter({
      limits: { A: { key, count: 10, period: '1m' }, B: { key, count: 1, period: '1m' } },
    });
    framework.make({ limiter, limits: [{ limit: 'A', cost: 5 }] });
    const replace = (limits: object, overrides = {}): void => limiter.replace({ limits, overrides } as never);
    expect(() => replace({ B: { key, count: 1, period: '1m' } })).toThrow('A');
    expect(() => replace({ A: { key, count: 4, period: '1m' } })).toThrow('at most 4');
    expect(() => replace({ A: { key, count: 10, period: '1m' } }, { A: { ann: { count: 4, period: '1m' } } })).toThrow(
      'at most 4',
    );
    expect(await limiter.check([{ limit: 'B', id: 'ann' }])).toMatchObject({ allowed: true });
    replace({ A: { key, count: 5, period: '1m' } });
    expect(await limiter.check([{ limit: 'A', id: 'ann', cost: 5 }])).toMatchObject({ allowed: true });
  });

  test('options that were rejected leave nothing behind in the limiter', () => {
    const key = userKey;
    const limiter = stillLimiter({ limits: { A: { key, count: 10, period: '1m' } } });
    expect(() => framework.make({ limiter, limits: [{ limit: 'A', cost: 5, mode: 'typo' }] })).toThrow('mode');
    expect(() => framework.make({ limiter, limits: [{ limit: 'A', cost: 5 }, 'A'] })).toThrow('twice');
    limiter.replace({ limits: { A: { key, count: 1, period: '1m' } } });
  });
}
