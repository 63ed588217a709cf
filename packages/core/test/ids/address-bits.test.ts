import { expect, test } from 'vitest';
import { addressBits } from '../../src/ids/address-bits.ts';

test.each([
  ['1:2:3:4:5:6:7:8', [0x10002, 0x30004, 0x50006, 0x70008]],
  ['2001:db8::a1', [0x20010db8, 0, 0, 0xa1]],
  ['2001:db8::', [0x20010db8, 0, 0, 0]],
  ['::', [0, 0, 0, 0]],
])('the bits of %s are those of its groups, also in a network', (text, words) => {
  expect(addressBits(text)).toMatchObject({ family: 6, words: new Uint32Array(words) });
  expect(addressBits(`${text}/48`)).toMatchObject({ family: 6, words: new Uint32Array(words) });
});

test('the bits of an IPv4 address or network are those of its four numbers', () => {
  expect(addressBits('192.0.2.255').words[0]).toBe(0xc00002ff);
  expect(addressBits('192.0.2.0/24').words[0]).toBe(0xc0000200);
});
