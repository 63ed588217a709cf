import { describe, expect, test } from 'vitest';
import { joinedMembers, membersOf, nameOf } from '../../../src/http/dialects/list-members.ts';

describe('the members of a list', () => {
  test.each([
    ['', []],
    ['  ', []],
    [' , ,, ', []],
    ['"a";r=1', ['"a";r=1']],
    ['"a";r=1,"b";r=2', ['"a";r=1', '"b";r=2']],
    [' "a";r=1 ,\t"b";r=2 ', ['"a";r=1', '"b";r=2']],
    ['"a,b";r=1, "c"', ['"a,b";r=1', '"c"']],
    ['"a\\",b";r=1, "c"', ['"a\\",b";r=1', '"c"']],
    ['"a\\\\",b', ['"a\\\\"', 'b']],
    ['"a";pk=:Zm9v:, "b"', ['"a";pk=:Zm9v:', '"b"']],
    ['100;w=60, 10;w=1', ['100;w=60', '10;w=1']],
    ['a, "unclosed, b', ['a', '"unclosed, b']],
    ['"unclosed\\', ['"unclosed\\']],
  ])('%o', (list, members) => {
    expect(membersOf(list)).toEqual(members);
  });

  test('of a text without end are found in a time that grows no faster than the text', () => {
    for (const part of ['"', '"\\', '\\"', ',"', '"a",']) expect(membersOf(part.repeat(200_000))).not.toEqual([]);
  });
});

test.each([
  ['"a";r=1', 'a'],
  ['"a\\"b"', 'a\\"b'],
  ['a;r=1', undefined],
  ['limit=5', undefined],
  [';r="a"', undefined],
])('the name of %o is the string that it starts with', (member, name) => {
  expect(nameOf(member)).toBe(name);
});

describe('joined members', () => {
  const ours = { name: 'A', state: '"A";r=3;t=5', policy: '"A";q=5;w=10' };

  test.each([
    ['fewer tokens are stricter', '"A";r=4;t=9', ours.state],
    ['more tokens are not', '"A";r=2;t=1', '"A";r=2;t=1'],
    ['of equally many the longer time is stricter', '"A";r=3;t=4', ours.state],
    ['the shorter is not', '"A";r=3;t=6', '"A";r=3;t=6'],
    ['equal ones stay', '"A"; r=3; t=5', '"A"; r=3; t=5'],
    ['no time is the shortest', '"A";r=3', ours.state],
    ['a state without tokens counts as none', '"A"', '"A"'],
  ])('%s', (_what, present, stays) => {
    const joined = joinedMembers({ states: [present], policies: ['"A";q=9'] }, [ours], new Set());
    expect(joined).toEqual([{ name: 'A', state: stays, policy: stays === present ? '"A";q=9' : ours.policy }]);
  });

  test('a policy without a state, or a state without a policy, is completed by ours', () => {
    expect(joinedMembers({ states: [], policies: ['"A";q=9'] }, [ours], new Set())).toEqual([ours]);
    expect(joinedMembers({ states: ['"A";r=0'], policies: [] }, [ours], new Set())).toEqual([ours]);
  });

  test('dropped states go, their policies stay', () => {
    const present = { states: ['"B";r=1', '"C";r=1'], policies: ['"B";q=1', '"C";q=1'] };
    expect(joinedMembers(present, [{ ...ours, state: undefined }], new Set(['B']))).toEqual([
      { name: 'B', state: undefined, policy: '"B";q=1' },
      { name: 'C', state: '"C";r=1', policy: '"C";q=1' },
      { ...ours, state: undefined },
    ]);
  });
});
