import { expect, test } from 'vitest';
import { textOf } from './changed-text.ts';
import { functionFingerprints } from './function-fingerprints.ts';

const schema = textOf('packages/postgres/sql/schema.sql');

/**
 * The functions of PostgreSQL that processes may be using, each with the fingerprint of its text. A line here never changes:
 * a text that does gets the next version, and a line of its own.
 */
const FINGERPRINTS: Readonly<Record<string, string>> = {
  sluice_run_v2: '1acabd3c0ad60688',
  sluice_sweep_v1: 'ad6a0d7e0983cb82',
};

test('a function of PostgreSQL never changes its text: a change is a function with the next version', () => {
  for (const [name, fingerprint] of functionFingerprints(schema)) {
    expect({ name, fingerprint: FINGERPRINTS[name] }).toEqual({ name, fingerprint });
  }
});

test('the comment of each function has the fingerprint of its text', () => {
  const comments = schema.matchAll(/^comment on function (\w+) is 'Sluice, fingerprint (\w+)';$/gm);
  expect(Array.from(comments, ([, name, fingerprint]) => [name, fingerprint])).toEqual([
    ...functionFingerprints(schema),
  ]);
});

test('comments and the breaking of lines are not a part of a fingerprint, and all else is', () => {
  const of = (text: string) => functionFingerprints(text).get('sluice_run_v2');
  expect(of(schema.replace('-- Every row is found by its key.', '-- A row.'))).toBe(of(schema));
  expect(of(schema.replace('width constant integer := 9', 'width constant integer := 8'))).not.toBe(of(schema));
});
