import { clientNetwork } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { describe, expect, test } from 'vitest';
import { flowSettings } from '../../src/http/middleware-options.ts';
import { thrown } from '../support/thrown.ts';

const errorOf = (options: object): string => thrown(() => flowSettings(options as never, [])).message;

describe('the options of a middleware with a limit of another kind', () => {
  test.each([
    [
      { concurrency: 10, slotsUntil: 'response', maxQueued: 5 },
      "and rateLimit({ limit: concurrency({ key: clientNetwork(), concurrency: 10 }), slotsUntil: 'response', maxQueued: 5 }).",
    ],
    [
      { key: clientNetwork(), count: 5, per: 'day', store: {} },
      "and rateLimit({ limit: quota({ key, count: 5, per: 'day' }), store: … }).",
    ],
    [{ load: () => 0 }, 'and rateLimit({ limit: load({ load: … }) }).'],
  ])('%o are answered with the line to write', (options, line) => {
    expect(errorOf(options)).toContain(line);
  });

  test.each<[unknown, string]>([
    [
      { count: 5, period: '1s' },
      '`rateLimit.limit` must be a limit of a kind, such as concurrency({ key, concurrency: 10 }), but was {',
    ],
    [100, '`limit` is `count` here'],
  ])('must have one in `limit`, and not %o', (limit, message) => {
    expect(errorOf({ limit })).toContain(message);
  });

  test('have what belongs to the limit in the limit', () => {
    const limit = concurrency({ key: clientNetwork(), concurrency: 1 });
    expect(errorOf({ limit, count: 5 })).toBe(
      '`rateLimit.count` must be left out beside `limit`: give it to the function that makes the limit.',
    );
    expect(errorOf({ limit: concurrency({ key: clientNetwork(), concurrency: 0 }) })).toContain(
      '`rateLimit.limit.concurrency` must be a whole number from 1 to',
    );
  });
});
