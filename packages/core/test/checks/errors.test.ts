import { describe, expect, test } from 'vitest';
import {
  complaint,
  isInstance,
  listed,
  messageOf,
  reasonOf,
  shown,
  shownName,
  shownText,
  SluiceError,
} from '../../src/checks/errors.ts';
import { uninspectable, unshowable } from '../support/uninspectable.ts';

describe('a SluiceError', () => {
  test('is an Error with a name, a code and a message', () => {
    const error = new SluiceError('ERR_OPTION', 'Write another one.');
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe('SluiceError: Write another one.');
    expect(error.code).toBe('ERR_OPTION');
  });

  test('has the status 500, or 400 when the client is at fault', () => {
    expect(new SluiceError('ERR_OPTION', '')).toMatchObject({ status: 500, statusCode: 500, kind: 'use' });
    expect(new SluiceError('ERR_ID', '', { status: 400 })).toMatchObject({
      status: 400,
      statusCode: 400,
      kind: 'input',
    });
    expect(new SluiceError('ERR_STORE_DEADLINE', '')).toMatchObject({ status: 500, kind: 'store' });
  });

  test('has a message that frameworks do not show to clients', () => {
    expect(new SluiceError('ERR_ID', '', { status: 400 }).expose).toBe(false);
  });

  test('keeps a cause of any type, and has no cause by default', () => {
    expect(new SluiceError('ERR_OVERRIDE', '', { cause: undefined })).toHaveProperty('cause', undefined);
    expect(new SluiceError('ERR_OVERRIDE', '', { cause: 'gone' }).cause).toBe('gone');
    expect(Object.hasOwn(new SluiceError('ERR_OVERRIDE', '', { status: 400 }), 'cause')).toBe(false);
  });
});

test('a complaint names the option, the demand, the value and the remedy', () => {
  const error = complaint('ERR_COST', { option: 'cost', demand: 'whole', value: 0.5, remedy: 'Write 1.', status: 400 });
  expect(error).toMatchObject({
    code: 'ERR_COST',
    status: 400,
    message: '`cost` must be whole, but was 0.5. Write 1.',
  });
});

test('a complaint without a remedy ends after the value, and is a 500', () => {
  const error = complaint('ERR_COST', { option: 'cost', demand: 'whole', value: '1' });
  expect(error).toMatchObject({ status: 500, message: "`cost` must be whole, but was '1'." });
});

test('an error about an option has its path as data, and can be given the path that somebody else wrote', () => {
  const cause = new Error('why');
  const error = new SluiceError('ERR_OVERRIDE', 'has no count.', { path: 'overrides.A', status: 400, cause });
  expect(error).toMatchObject({ path: 'overrides.A', message: '`overrides.A` has no count.' });
  const renamed = error.withPath('rateLimit.overrides');
  const { code, status } = error;
  expect(renamed).toMatchObject({ code, status, cause, path: 'rateLimit.overrides' });
  expect(renamed.message).toBe('`rateLimit.overrides` has no count.');
  expect(Object.hasOwn(new SluiceError('ERR_CLOSED', 'Closed.'), 'path')).toBe(false);
  expect(complaint('ERR_COST', { option: 'cost', demand: 'whole', value: '1' }).path).toBe('cost');
});

describe('a value that can not be inspected', () => {
  const fail = (): never => {
    throw new Error('not for you');
  };
  const withGetter = (name: string): Error => Object.defineProperty(new Error('x'), name, { get: fail });
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  test.each<[what: string, value: unknown]>([
    ['a Proxy whose traps throw', uninspectable()],
    ['a Proxy of an error', uninspectable(new Error('x'))],
    ['a Proxy of a function', uninspectable(() => null)],
    ['a revoked Proxy', revoked.proxy],
    ['an object behind such a Proxy', Object.create(uninspectable())],
    ['an error whose name throws', withGetter('name')],
    ['an error whose message throws', withGetter('message')],
    ['an error whose stack throws', withGetter('stack')],
    ['an error whose name is a symbol', Object.assign(new Error('x'), { name: Symbol('s') })],
    ['an error whose message can not be text', Object.assign(new Error('x'), { message: { toString: fail } })],
    ['an error whose cause can not be inspected', new Error('x', { cause: uninspectable(new Error('y')) })],
    ['an object whose tag throws', { get [Symbol.toStringTag]() { return fail(); } }], // prettier-ignore
    ['a function whose name throws', Object.defineProperty(() => null, Symbol.toStringTag, { get: fail })],
  ])('is shown all the same: %s', (_what, value) => {
    for (const show of [shown, reasonOf, messageOf]) {
      expect(show(value)).toMatch(/^[^\n]{1,201}$/);
      expect(show(value)).not.toContain('not for you');
    }
    expect(isInstance(value, SluiceError)).toBe(false);
  });

  test('is named by its type', () => {
    expect(shown(unshowable())).toBe("an object that can't be inspected");
    expect(reasonOf(unshowable())).toBe("an object that can't be inspected");
  });
});

test('of several errors without a message the first is shown, as when no address of a host accepts a connection', () => {
  const refused = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:5432`));
  expect(reasonOf(new AggregateError(refused))).toBe('Error: connect ECONNREFUSED ::1:5432');
  expect(messageOf(new AggregateError(refused))).toBe('connect ECONNREFUSED ::1:5432');
  expect(messageOf(new AggregateError(refused, 'no server'))).toBe('no server');
  expect(reasonOf(new AggregateError([]))).toBe('AggregateError');
});

test('messageOf returns the message of an error without its name, and shows other values', () => {
  expect(messageOf(new TypeError('no'))).toBe('no');
  expect(messageOf('text')).toBe("'text'");
});

describe('a value in a message', () => {
  class Hostile {
    readonly secret = 1;
    [Symbol.for('nodejs.util.inspect.custom')](): never {
      throw new Error('not for you');
    }
  }

  test.each<[value: unknown, text: string]>([
    [undefined, 'undefined'],
    ['', "''"],
    ['two\nlines', "'two\\nlines'"],
    [60_000n, '60000n'],
    [-0, '-0'],
    [{ a: { b: { c: 1 } } }, '{ a: { b: [Object] } }'],
    [[1, 2, 3, 4, 5, 6], '[ 1, 2, 3, 4, 5, ... 1 more item ]'],
    [(): null => null, '[Function (anonymous)]'],
    [new Hostile(), 'Hostile { secret: 1 }'],
  ])('%#: is what Node shows', (value, text) => expect(shown(value)).toBe(text));

  test.each<[what: string, value: unknown]>([
    ['an error with its stack', new Error('first\nsecond')],
    ['a long text', 'x'.repeat(10_000)],
    [
      'an object of many options',
      Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`option${i}`, { a: [i] }])),
    ],
    ['many lines', Array.from({ length: 6 }, () => 'line\n'.repeat(30))],
  ])('%s is one short line', (_, value) => {
    expect(shown(value)).not.toContain('\n');
    expect(shown(value).length).toBeLessThanOrEqual(201);
  });
});

describe('a text in a message', () => {
  test.each<[text: string, seen: string]>([
    ['OrdersPerAccount', 'OrdersPerAccount'],
    ['Grüße 💩', 'Grüße 💩'],
    ['a\nb\u2028c\u202ed', 'a\\u{a}b\\u{2028}c\\u{202e}d'],
    ['\ud800', '\\u{d800}'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\u001b[31m', '\\u{1b}[31m'],
  ])('is shown with every character seen: %j', (text, seen) => expect(shownText(text, 40)).toBe(seen));

  test.each<[text: string, maxLength: number, seen: string]>([
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcdef…'],
    ['abcde💩', 6, 'abcde…'],
    ['abcd💩f', 6, 'abcd💩…'],
    ['abc\u202e', 6, 'abc…'],
    ['\u202e\u202e', 10, '\\u{202e}…'],
    ['abcdef\\', 7, 'abcdef\\'],
  ])('is cut where it is too long, never within a character: %j to %d', (text, maxLength, seen) => {
    expect(shownText(text, maxLength)).toBe(seen);
  });

  test('of many lines is one, without what is empty', () => {
    expect(messageOf(new Error('\n first \r\n\n\tsecond\n'))).toBe('first second');
    expect(reasonOf(new TypeError('first\nsecond'))).toBe('TypeError: first second');
  });

  test('of another library is at most a thousand characters', () => {
    expect(reasonOf(new Error('x'.repeat(1_000_000)))).toHaveLength(1001);
    expect(messageOf(new Error('\u202e'.repeat(1_000_000))).length).toBeLessThanOrEqual(1001);
  });

  test('is a name up to 80 characters', () => {
    expect(shownName('x'.repeat(80))).toBe('x'.repeat(80));
    expect(shownName('x'.repeat(81))).toBe(`${'x'.repeat(80)}…`);
  });
});

test('of many names the first thirty are listed', () => {
  const names = Array.from({ length: 32 }, (_, i) => `N${i}`);
  expect(listed(['A', 'B\n'])).toBe('A, B\\u{a}');
  expect(listed(names.slice(0, 30))).toBe(names.slice(0, 30).join(', '));
  expect(listed(names)).toBe(`${names.slice(0, 30).join(', ')} and 2 more`);
});

test('a SluiceError of anyone shows every character, and keeps its lines', () => {
  expect(new SluiceError('ERR_ID', 'a\u202eb\nc').message).toBe('a\\u{202e}b\nc');
});
