import { accountId, ipAddress, type Limits } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { defineLimits } from '../../src/definitions/define-limits.ts';
import { checkLimitName } from '../../src/limits/limit-name.ts';
import { thrown } from '../support/thrown.ts';

const define = (definitions: object) => defineLimits(definitions as Limits, 'local');
const one = { key: accountId(), count: 5, period: '1s' };

test('limits are defined in the order given, by name', () => {
  const limits = define({ Reads: one, Writes: { ...one, burst: 9, onFailure: 'closed' } });
  expect([...limits.keys()]).toEqual(['Reads', 'Writes']);
  expect(limits.get('Reads')).toMatchObject({
    name: 'Reads',
    key: one.key,
    treatment: { onFailure: 'local', hidden: false },
    rate: { burst: 5 },
  });
  expect(limits.get('Writes')).toMatchObject({
    name: 'Writes',
    treatment: { onFailure: 'closed' },
    rate: { burst: 9, count: 5 },
  });
});

test('a limit that names no failure policy has that of the limiter', () => {
  expect(defineLimits({ Reads: one }, 'open').get('Reads')?.treatment.onFailure).toBe('open');
});

describe('a name of a limit', () => {
  test.each(['a', 'Orders', 'Requests-Per.IP_Address2', 'x'.repeat(64)])('may be %s', (name) => {
    expect(define({ [name]: one }).has(name)).toBe(true);
  });

  test.each(['', '2fast', '_x', 'two words', 'a:b', 'a"b', 'ärger', 'x'.repeat(65), 'a\n', '__proto__'])(
    'may not be %o',
    (name) => {
      const error = thrown(() => define(Object.fromEntries([[name, one]])));
      expect(error.code).toBe('ERR_LIMIT');
      expect(error.message).toMatch(/^`name of a limit` must be a letter followed by letters, digits/);
    },
  );

  test('is rejected with its demand, its value and an example', () => {
    expect(thrown(() => checkLimitName('name', 5)).message).toBe(
      '`name` must be a letter followed by letters, digits, `_`, `.` or `-`, at most 64 characters, but was 5. ' +
        'Clients see the name in header fields. For example OrdersPerAccount.',
    );
  });

  test('must differ from the others by more than case', () => {
    const error = thrown(() => define({ Orders: one, orders: one }));
    expect(error.code).toBe('ERR_LIMIT');
    expect(error.message).toBe('`limits` has both `Orders` and `orders`: names must differ by more than case.');
  });
});

test.each([[undefined], [null], ['Orders'], [[one]]])('limits that are not an object are rejected: %o', (limits) => {
  const error = thrown(() => define(limits as never));
  expect(error.code).toBe('ERR_OPTION');
  expect(error.message).toMatch(
    /^`limits` must be an object of limits by name, but was .*\. For example limits: \{ Requests: \{ key: clientNetwork\(\), count: 100, period: '1m' \} \}\.$/,
  );
});

describe('the key of a limit', () => {
  test.each<[what: string, key: unknown, shown: string]>([
    ['missing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a function that was not called', ipAddress, '[Function: ipAddress]'],
    ['a name', 'ipAddress', "'ipAddress'"],
    ['an object without a format', {}, '{}'],
    ['an object whose format can nothing', { format: { name: 'x' } }, "{ format: { name: 'x' } }"],
  ])('must not be %s', (_, key, shown) => {
    const error = thrown(() => define({ Orders: { ...one, key } }));
    expect(error.code).toBe('ERR_KEY');
    expect(error.message).toBe(
      `\`limits.Orders.key\` must be a key, but was ${shown}. ` +
        'It gets the id that is limited from a request, e.g. key: clientNetwork() or key: accountId((req) => req.user?.id ?? null).',
    );
  });
});

describe('a definition is rejected', () => {
  test.each<[what: string, definition: unknown, code: string, message: RegExp]>([
    [
      'that is no object',
      '5/s',
      'ERR_OPTION',
      /^`limits.Orders` must be an object, but was '5\/s'\. For example \{ key: clientNetwork\(\), count: 100, period: '1m' \}\.$/,
    ],
    ['with an unknown field', { ...one, perod: 1, cuont: 5 }, 'ERR_UNKNOWN_OPTION', /no option `perod`/],
    ['with a typo, guessing it', { ...one, cuont: 5 }, 'ERR_UNKNOWN_OPTION', /Did you mean `count`\?/],
    ['by the names of others', { ...one, windowMs: 5 }, 'ERR_UNKNOWN_OPTION', /`windowMs` is `period` here/],
    [
      'with an unknown policy',
      { ...one, onFailure: 'block' },
      'ERR_OPTION',
      /'local' or 'closed' or 'open', but was 'block'/,
    ],
    ['with a policy that is null', { ...one, onFailure: null }, 'ERR_OPTION', /onFailure` must be .* but was null/],
    ['without a count', { key: one.key, period: '1s' }, 'ERR_OPTION', /`limits.Orders.count` must be .* undefined/],
    ['without a period', { key: one.key, count: 5 }, 'ERR_DURATION', /`limits.Orders.period` must be .* undefined/],
  ])('%s', (_, definition, code, message) => {
    const error = thrown(() => define({ Orders: definition }));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });
});
