import { describe, expect, test } from 'vitest';
import {
  checkBoolean,
  checkFunction,
  checkOptions,
  entriesOf,
  isPlainObject,
  oneOf,
  wholeNumber,
} from '../../src/checks/options.ts';
import { thrown } from '../support/thrown.ts';

const KNOWN = ['key', 'burst', 'count', 'period'] as const;
const check = (options: unknown, hints = {}): void => checkOptions('limits.Orders', options, KNOWN, hints);

test('known options pass, also when they are left out', () => {
  expect(() => check({})).not.toThrow();
  expect(() => check({ burst: 1, count: undefined, period: '1s' })).not.toThrow();
});

test('an instance of a class with other properties is rejected as what it is, not by each of its properties', () => {
  class Message {
    readonly socket = 5;
    readonly url = '/';
  }
  const demand = (value: string): string =>
    `\`limits.Orders\` must be an object of options, but was ${value}. Options: key, burst, count, period.`;
  const error = thrown(() => check(new Message()));
  expect([error.code, error.message]).toEqual(['ERR_OPTION', demand("Message { socket: 5, url: '/' }")]);
});

test('an instance of a class whose properties are all options passes', () => {
  class Settings {
    readonly count = 5;
  }
  expect(() => check(new Settings())).not.toThrow();
});

describe('an unknown option is an error,', () => {
  test('which lists the options that there are', () => {
    const error = thrown(() => check({ colour: 'red' }));
    expect(error.code).toBe('ERR_UNKNOWN_OPTION');
    expect(error.message).toBe(
      "`limits.Orders` has no option `colour` (its value was 'red'). Options: key, burst, count, period.",
    );
  });

  test('which shows what the options look like together if none of them is known', () => {
    const message = (options: object): string =>
      thrown(() => checkOptions('limit', options, KNOWN, {}, "limit({ count: 100, period: '1m' })")).message;
    expect(message({ colour: 'red' })).toBe(
      "`limit` has no option `colour` (its value was 'red'). For example limit({ count: 100, period: '1m' }). Options: key, burst, count, period.",
    );
    expect(message({ colour: 'red', count: 5 })).not.toContain('For example');
  });

  test('on one line and short, even if the name is hostile', () => {
    expect(thrown(() => check({ 'a\nb\u2028c\u202Ed': 5 })).message).toBe(
      '`limits.Orders` has no option `a\\u{a}b\\u{2028}c\\u{202e}d` (its value was 5). Options: key, burst, count, period.',
    );
    expect(thrown(() => check({ ['x'.repeat(1000)]: 5 })).message).toContain(`\`${'x'.repeat(80)}…\``);
  });

  test.each([
    { typo: 'Burst', meant: 'burst', why: 'other capitals' },
    { typo: 'brust', meant: 'burst', why: 'letters in another order' },
    { typo: 'periods', meant: 'period', why: 'a letter too many' },
    { typo: 'coun', meant: 'count', why: 'a letter too few' },
    { typo: 'perod', meant: 'period', why: 'a letter too few in the middle' },
    { typo: 'buurst', meant: 'burst', why: 'a letter too many in the middle' },
    { typo: 'coumt', meant: 'count', why: 'a wrong letter' },
  ])('which guesses what was meant by $why', ({ typo, meant }) => {
    expect(thrown(() => check({ [typo]: 5 })).message).toBe(
      `\`limits.Orders\` has no option \`${typo}\` (its value was 5). Did you mean \`${meant}\`? Options: key, burst, count, period.`,
    );
  });

  test('which names at most three that may have been meant, the closest first', () => {
    const names = ['mailsOut', 'mailsIn', 'mails', 'mailing', 'mailer'];
    const error = thrown(() => checkOptions('post', { mailss: 5, mail: 5 }, names));
    expect(error.message).toContain('`mailss` (its value was 5). Did you mean `mails`?');
    expect(error.message).toContain('`mail` (its value was 5). Did you mean `mails`, `mailsOut` or `mailsIn`?');
  });

  test('which says where a long list of options is, and does not repeat it', () => {
    const names = Array.from({ length: 13 }, (_, i) => `option${i}`);
    expect(thrown(() => checkOptions('post', { colour: 5 }, names)).message).toBe(
      '`post` has no option `colour` (its value was 5). All 13 options are in docs/limits/options.md.',
    );
  });

  test('which guesses nothing from a letter or two', () => {
    expect(thrown(() => check({ K: 5 })).message).not.toContain('Did you mean');
  });

  test('which translates the names of other libraries', () => {
    const error = thrown(() => check({ max: 5 }, { max: '`max` is `count` here.' }));
    expect(error.message).toBe(
      '`limits.Orders` has no option `max` (its value was 5). `max` is `count` here. Options: key, burst, count, period.',
    );
  });

  test.each(['password', 'dbPasswd', 'SECRET', 'credentials'])(
    'without its value, which is a secret, of `%s`',
    (name) => {
      expect(thrown(() => check({ [name]: 'hunter2' })).message).toBe(
        `\`limits.Orders\` has no option \`${name}\`. Options: key, burst, count, period.`,
      );
    },
  );

  test('also when its value is undefined', () => {
    expect(thrown(() => check({ brust: undefined })).message).toContain('Did you mean `burst`?');
  });

  test('also when it has the name of something that every object has', () => {
    expect(thrown(() => check({ toString: 1 }, {})).message).toContain(
      'has no option `toString` (its value was 1). Opt',
    );
  });
});

describe('an option that can not be read is an error, which names it,', () => {
  const boom = new Error('boom');
  const throwing = (name: string) => Object.defineProperty({}, name, { get: fail, enumerable: true });
  const fail = (): never => {
    throw boom;
  };

  test.each<[string, object, string]>([
    ['a known one', throwing('burst'), 'limits.Orders.burst'],
    ['an unknown one', throwing('colour'), 'limits.Orders.colour'],
    ['one of a hostile name', throwing('a\nb'), 'limits.Orders.a\\u{a}b'],
    [
      'one of a class',
      new (class {
        get period(): string {
          return fail();
        }
      })(),
      'limits.Orders.period',
    ],
    ['one of a Proxy', new Proxy({ key: 1 }, { get: fail }), 'limits.Orders.key'],
    ['an object without names to read', new Proxy({}, { ownKeys: fail }), 'limits.Orders'],
  ])('%s', (_, options, name) => {
    const error = thrown(() => check(options));
    expect(error).toMatchObject({ code: 'ERR_OPTION', cause: boom });
    expect(error.message).toBe(
      `\`${name}\` can't be read: reading it threw "Error: boom". Write its value, or a getter that does not throw.`,
    );
  });

  test('for any thrown value', () => {
    const options = {
      get burst() {
        // oxlint-disable-next-line no-throw-literal -- user code may throw anything
        throw null;
      },
    };
    expect(thrown(() => check(options)).message).toContain("`limits.Orders.burst` can't be read: reading it threw ");
  });
});

test('entries are those of an object, and one that can not be read is an error that names it', () => {
  expect(entriesOf('limits', { a: 1, b: undefined })).toEqual([
    ['a', 1],
    ['b', undefined],
  ]);
  const limits = {
    get Orders() {
      throw new Error('boom');
    },
  };
  expect(thrown(() => entriesOf('limits', limits))).toMatchObject({
    code: 'ERR_OPTION',
    message: expect.stringContaining("`limits.Orders` can't be read"),
  });
});

test.each([[null], [undefined], ['1m'], [5], [[]], [() => {}]])('%o is not an object of options', (value) => {
  expect(isPlainObject(value)).toBe(false);
  const error = thrown(() => check(value));
  expect(error.code).toBe('ERR_OPTION');
  expect(error.message).toMatch(/^`limits.Orders` must be an object, but was /);
});

describe('a whole number', () => {
  const demand = { min: 1, max: 10 };

  test.each([1, 5, 10])('from its least to its most is given: %d', (value) => {
    expect(wholeNumber('maxKeys', value, demand)).toBe(value);
  });

  test.each([0, 11, 1.5, Number.NaN, '5', null, undefined, 5n])('%o is rejected', (value) => {
    expect(thrown(() => wholeNumber('maxKeys', value, demand)).message).toMatch(
      /^`maxKeys` must be a whole number from 1 to 10, but was .*\.$/,
    );
  });

  test('of an option that is not a plain name shows the whole option in the example', () => {
    expect(thrown(() => wholeNumber('advance(…)', 'x', demand)).message).toContain('For example advance(…): 10.');
  });

  test('names the remedy if there is one', () => {
    const error = thrown(() => wholeNumber('maxKeys', 0, { ...demand, remedy: 'Leave it out.' }));
    expect(error.message).toBe('`maxKeys` must be a whole number from 1 to 10, but was 0. Leave it out.');
  });
});

describe('one of a few words', () => {
  test('is given as it is', () => expect(oneOf('onFailure', 'open', ['closed', 'open'])).toBe('open'));

  test.each(['opened', 'OPEN', '', true, null])('%o is not one of them', (value) => {
    expect(thrown(() => oneOf('onFailure', value, ['closed', 'open'])).message).toMatch(
      /^`onFailure` must be 'closed' or 'open', but was .*\.$/,
    );
  });

  test('names the remedy if there is one', () => {
    const error = thrown(() => oneOf('onFailure', 1, ['open'], 'Leave it out.'));
    expect(error.message).toBe("`onFailure` must be 'open', but was 1. Leave it out.");
  });
});

describe('a function or a boolean', () => {
  test('may be left out', () => {
    expect(() => checkFunction('onEvent', undefined, 'Leave it out.')).not.toThrow();
    expect(() => checkBoolean('shadow', undefined)).not.toThrow();
  });

  test('passes when it is one', () => {
    expect(() => checkFunction('onEvent', () => {}, 'Leave it out.')).not.toThrow();
    expect([true, false].map((value) => checkBoolean('shadow', value))).toEqual([undefined, undefined]);
  });

  test('is rejected when it is not a function', () => {
    expect(thrown(() => checkFunction('onEvent', 'log', 'Leave it out.')).message).toBe(
      "`onEvent` must be a function, but was 'log'. Leave it out.",
    );
    expect(thrown(() => checkBoolean('shadow', 'yes')).message).toBe(
      "`shadow` must be true or false, but was 'yes'. Write shadow: true, or leave it out.",
    );
  });
});

describe('a number in a text is shown as a number,', () => {
  const remedy = (option: string, value: unknown): string =>
    thrown(() => wholeNumber(option, value, { min: 1, max: 60_000 }))
      .message.split('. ')
      .at(-1)!;

  test.each([
    ['failure.deadlineMs', '50', 'Write deadlineMs: 50.'],
    ['failure.deadlineMs', '50ms', 'Write deadlineMs: 50.'],
    ['failure.deadlineMs', '5 s', 'Write deadlineMs: 5000.'],
    ['maxKeys', '50', 'Write maxKeys: 50.'],
    ['maxKeys', 50n, 'Write maxKeys: 50.'],
  ])('%s: %s', (option, value, remedyText) => expect(remedy(option, value)).toBe(remedyText));

  test.each([
    ['maxKeys', '50ms'],
    ['failure.deadlineMs', '61s'],
    ['failure.deadlineMs', 'soon'],
  ])('but not %s: %s, which is no number in its range', (option, value) => {
    expect(remedy(option, value)).toMatch(/^For example \w+: 50\.$/);
  });
});
