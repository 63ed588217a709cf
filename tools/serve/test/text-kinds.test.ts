import { describe, expect, test } from 'vitest';
import { idText } from '../src/ids/id-text.ts';
import { canonicalPath, pathText } from '../src/spellings/canonical-path.ts';
import { HOST, METHOD, pathKind, TEXT } from '../src/spellings/text-kind.ts';

describe('the id of a text that a pattern matches', () => {
  const spelled = (...texts: string[]) => ({
    ...TEXT,
    canonical: () => 'canonical',
    spellings: () => ({ texts, areAll: true, rest: '' }),
  });
  const matching = { isMatch: (text: string) => text !== 'canonical', pattern: '/a/*' };

  test('is the canonical one if it matches', () => {
    expect(idText(spelled('a'), 'text', { ...matching, isMatch: () => true })).toBe('canonical');
  });

  test('is otherwise the shortest spelling that matches, and of equally long ones the first', () => {
    expect(idText(spelled('ccc', 'bb', 'aa'), 'text', matching)).toBe('aa');
    expect(idText(spelled('aa', 'bb', 'ccc'), 'text', matching)).toBe('aa');
  });

  test('is the pattern if no spelling that matches is known', () => {
    expect(idText(spelled(), 'text', matching)).toBe('/a/*');
  });
});

test.each([
  ['', ''],
  ['http://h', '/'],
  ['http://h/a?b', '/a'],
  ['?x=1', '/'],
  ['/%25252541', '/A'],
])('the one spelling of the target %j is %j', (target, path) => {
  expect(canonicalPath(target)).toBe(path);
});

test('bytes of a path that are not UTF-8 are shown as escapes', () => {
  expect(pathText('/\xff\xc3\xa9')).toBe('/%FF%C3%A9');
  expect(pathText('/\xc3\xa9')).toBe('/é');
});

describe('a host that can not be read', () => {
  test('is compared without its case, and has that as its id', () => {
    expect(HOST.spellings('A B')).toEqual({ texts: ['a b'], areAll: true, rest: '' });
    expect(HOST.canonical('A B')).toBe('a b');
  });

  test('is a pattern as it is written, as is the beginning of a host', () => {
    expect(HOST.forms('A B', false)).toEqual(['a b']);
    expect(HOST.forms('API.', true)).toEqual(['api.']);
    expect(HOST.forms('API.Example:80', false)).toEqual(['api.example:80']);
  });
});

test('a path of a backend that ignores case has one id in all cases', () => {
  expect(pathKind(true).canonical('/Orders/A1')).toBe(pathKind(true).canonical('/oRDERS/a1'));
  expect(pathKind(false).canonical('/Orders/A1')).toBe('/Orders/A1');
});

test('a method is compared and shown in upper case', () => {
  expect([METHOD.spellings('get').texts, METHOD.forms('get', false), METHOD.canonical('brew')]).toEqual([
    ['GET'],
    ['GET'],
    'other',
  ]);
});
