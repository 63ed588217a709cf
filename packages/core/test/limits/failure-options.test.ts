import { describe, expect, test } from 'vitest';
import { checkFailureOptions, type FailureOptions } from '../../src/limits/failure-options.ts';
import { checkFailurePolicy } from '../../src/limits/failure-policy.ts';

const wrong = (options: unknown) => () => checkFailureOptions(options as FailureOptions);

test('left out, a decision waits 50 ms, limits are decided locally, and this process is the only one', () => {
  const defaults = { deadlineMs: 50, onFailure: 'local', gateways: 1 };
  expect(checkFailureOptions()).toEqual(defaults);
  expect(checkFailureOptions({ deadlineMs: undefined, onFailure: undefined, gateways: undefined })).toEqual(defaults);
});

test.each([
  { deadlineMs: 1, onFailure: 'open', gateways: 10_000 },
  { deadlineMs: 60_000, onFailure: 'closed', gateways: 1 },
] as const)('%o is taken as it is', (options) => {
  expect(checkFailureOptions(options)).toEqual(options);
});

describe('is rejected with option, demand and value', () => {
  test.each([0, 60_001, 1.5, NaN, '50', null])('deadlineMs: %o', (deadlineMs) => {
    expect(wrong({ deadlineMs })).toThrow(/`failure.deadlineMs` must be a whole number from 1 to 60000, but was/);
  });

  test.each([0, 10_001, 1.5, Infinity, 'two'])('gateways: %o', (gateways) => {
    expect(wrong({ gateways })).toThrow(
      /`failure.gateways` must be a whole number from 1 to 10000, but was .* how many processes share the store/,
    );
  });

  test.each(['shut', true, null])('onFailure: %o', (onFailure) => {
    expect(wrong({ onFailure })).toThrow(/`failure.onFailure` must be 'local' or 'closed' or 'open', but was/);
  });

  test.each([null, [], 'local', 50])('failure: %o', (failure) => {
    expect(wrong(failure)).toThrow(expect.objectContaining({ code: 'ERR_OPTION' }));
  });
});

test.each([
  ['timeout', 'deadlineMs'],
  ['commandTimeout', 'deadlineMs'],
  ['passOnStoreError', "onFailure: 'open'"],
  ['skipOnError', "onFailure: 'open'"],
  ['insuranceLimiter', "onFailure: 'local'"],
])('`%s`, a name of other libraries, is an error with our name', (name, ours) => {
  expect(wrong({ [name]: 1 })).toThrow(expect.objectContaining({ code: 'ERR_UNKNOWN_OPTION' }));
  expect(wrong({ [name]: 1 })).toThrow(ours);
});

test('a policy of a limit is checked by the same words', () => {
  expect(checkFailurePolicy('limits.Orders.onFailure', 'closed')).toBe('closed');
  expect(() => checkFailurePolicy('limits.Orders.onFailure', 'fail')).toThrow(
    "`limits.Orders.onFailure` must be 'local' or 'closed' or 'open', but was 'fail'.",
  );
});
