import { expect, test } from 'vitest';
import { namedApart } from '../../../src/http/dialects/list-members.ts';

const member = (policy: string) => ({ name: 'default', policy: `"default"${policy}`, state: '"default";r=1' });

test('a third limit without a name has the number 3, and one with equal numbers the same name', () => {
  const policies = ['"default";q=1', '"default-2";q=2'];
  expect(namedApart(member(';q=3'), policies)).toEqual({
    name: 'default-3',
    policy: '"default-3";q=3',
    state: '"default-3";r=1',
  });
  expect(namedApart(member(';q=2'), policies).name).toBe('default-2');
  expect(namedApart(member(';q=1'), policies).name).toBe('default');
  // In a denial, only limits that denied have a state.
  expect(namedApart({ ...member(';q=3'), state: undefined }, policies)).toEqual({
    name: 'default-3',
    policy: '"default-3";q=3',
    state: undefined,
  });
});
