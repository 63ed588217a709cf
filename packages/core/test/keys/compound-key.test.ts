import { accountId, compound, IpAddress, ipAddress, type Key } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { thrown } from '../support/thrown.ts';

interface Asked {
  readonly user: string | null | Promise<string | null>;
}

const user: Key<Asked> = accountId(({ user: id }: Asked) => id);
const source = (id: Asked['user'], address = '203.0.113.7') => ({
  request: { user: id },
  clientAddress: IpAddress.parse(address)!,
});
const userAtAddress = compound(user, ipAddress());
const idOf = (id: Asked['user'], address?: string) => userAtAddress.idOf!(source(id, address), 'Orders');

describe('a compound key', () => {
  test('has its parts’ ids as its id, and their names as its format’s name', () => {
    expect(idOf('alice')).toBe('alice:203.0.113.7');
    expect(userAtAddress.format.name).toBe('accountId:ipAddress');
  });

  test('leaves separators in its last part', () => {
    expect(idOf('alice', '2001:db8::1')).toBe('alice:2001:db8::1');
    expect(userAtAddress.format.canonical('alice:2001:DB8::0:1')).toBe('alice:2001:db8::1');
  });

  test('never makes one id of two pairs', () => {
    const pair = compound(
      user,
      accountId(({ user: id }: Asked) => (id === 'a:b' ? 'c' : 'b:c')),
    );
    expect(pair.idOf!(source('a:b'), 'Orders')).toBe('a%3Ab:c');
    expect(pair.idOf!(source('a'), 'Orders')).toBe('a:b:c');
    expect(pair.idOf!(source('a%3Ab'), 'Orders')).toBe('a%253Ab:b:c');
  });

  test.each(['alice', 'a:b', 'a%3Ab', 'a%', '%25', '::', '%3a'])('gives %s an id that its format knows', (id) => {
    const made = idOf(id) as string;
    expect(userAtAddress.format.canonical(made)).toBe(made);
  });

  test('does not apply where one part does not apply', async () => {
    expect(idOf(null)).toBeNull();
    expect(await idOf(Promise.resolve(null))).toBeNull();
  });

  test('waits for parts that are promises, and only then', async () => {
    const id = idOf(Promise.resolve('alice'));
    expect(id).toBeInstanceOf(Promise);
    expect(await id).toBe('alice:203.0.113.7');
  });

  test('fails with a part that throws, also while another one fails later', async () => {
    const failing = accountId((): string => {
      throw new Error('no session');
    });
    expect(await rejection(compound(failing, ipAddress()))).toThrow('no session');
    const later = accountId(() => Promise.reject(new Error('no database')));
    expect(await rejection(compound(later, failing))).toThrow(/^no (database|session)$/);
  });

  test('with a part that has no function is a format alone', () => {
    const key = compound(accountId(), ipAddress());
    expect(key.idOf).toBeUndefined();
    expect(key.format.canonical('7:::ffff:10.0.0.1')).toBe('7:10.0.0.1');
  });

  test('of three parts has three', () => {
    const key = compound(accountId(), accountId(), ipAddress());
    expect(key.format.canonical('a:b:::1')).toBe('a:b:::1');
    expect(thrown(() => key.format.canonical('a:b'))).toMatchObject({
      code: 'ERR_ID',
      status: 400,
      message:
        "`id` must be an id of accountId:accountId:ipAddress: 3 parts separated by `:`, but was 'a:b'. Write <accountId>:<accountId>:<ipAddress>, with %3A for a `:` in any part but the last.",
    });
    expect(key.format.canonical('a%3Ab:c:2001:db8::1')).toBe('a%3Ab:c:2001:db8::1');
  });

  test('knows the first parts of an id, in their canonical spelling, but no id with all of its parts', () => {
    const { firstParts } = compound(ipAddress(), accountId(), ipAddress()).format;
    expect(firstParts!('10.0.0.1')).toBe('10.0.0.1');
    expect(firstParts!('2001%3ADB8%3A%3A0%3A1:a%3Ab')).toBe('2001%3Adb8%3A%3A1:a%3Ab');
    expect(firstParts!('10.0.0.1:alice:10.0.0.2')).toBeUndefined();
    expect(firstParts!('10.0.0.1:alice:2001:db8::1')).toBeUndefined();
    for (const text of ['', 'alice', '10.0.0.1:', '10.0.0.0/8']) {
      expect(thrown(() => firstParts!(text))).toMatchObject({ code: 'ERR_ID' });
    }
  });

  test('rejects parts that are not valid in their formats', () => {
    expect(thrown(() => userAtAddress.format.canonical('alice:bob'))).toMatchObject({ code: 'ERR_ID' });
    expect(thrown(() => userAtAddress.format.canonical(':10.0.0.1'))).toMatchObject({ code: 'ERR_ID' });
  });
});

describe('a compound key is rejected', () => {
  test.each<[string, () => unknown, string]>([
    [
      'of one key',
      () => compound(user),
      '`compound` must be given two keys or more, but was 1. For example compound(accountId((req) => req.user.id), ipAddress()).',
    ],
    [
      'of what is no key',
      () => compound(user, ipAddress as never),
      '`compound` must be given keys, but was [Function: ipAddress]. For example compound(accountId((req) => req.user.id), ipAddress()).',
    ],
  ])('%s', (_, make, message) => expect(thrown(make)).toMatchObject({ code: 'ERR_KEY', message }));
});

/** What a key's promise of an id is rejected with, to be thrown again. */
async function rejection(key: Key<Asked>): Promise<() => never> {
  try {
    await key.idOf!(source('alice'), 'Orders');
  } catch (error) {
    return () => {
      throw error;
    };
  }
  throw new Error('there was an id');
}
