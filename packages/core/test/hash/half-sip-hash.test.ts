import { describe, expect, test } from 'vitest';
import { halfSipHash, type HashKey } from '../../src/hash/half-sip-hash.ts';

// The published vectors of HalfSipHash-2-4 with 64 bits: place n is the hash of the bytes 0, 1 … n − 1 under the key
// 00 01 … 07 (vectors_hsip64 in https://github.com/veorq/SipHash, dedicated to the public domain).
const vectors = `
  218d1f59b9b83cc8 be552412f8387315 064f39ef7c50eb57 ce0f1a45f7060679 d5e78a175be52ea1 cb9d7c3f2f3db580
  ce3e91358aa2bc25 ff202728b07bc684 edfee820bce4858c 5b51cccc13888307 95b0469f06a6f2ee ae26333994ddcd48
  7bc71f9faef5c799 5a2352d75a0c3744 3bb1a870eae8e658 217d0bcb4e81c902 7336aad25f7bf3b5 37adc0641c4c4f6a
  c9b2db2b9a3e42f9 f910e48020ab363c 1bf52b0a6feea7db 00741dc269e8b3ef e20103fa1ba776ef 4c2210e54b681d73
  70741045ae3fa6f1 0c86403739714038 0d899ed8112923f0 226bf5fab81ee1b8 2d925ffb1e0016b5 361958d52cee10f1
  291aaf864898179d 863c7f155c34117c 28709d46d811626c 248477681d28f89c 8324e4d7528f9830 f9efd4e13aea6bd8
  86d67a40ec4276dc 3f6292eccca97e35 cbd92ee724d42109 368df6808d403d79 5b38c81c67c8ae4c 95ab7189d439acb3
  a91a52c025327024 5b0087c69528acea 1e30f3ad27dcb15a 697f5c9a90324ed4 495c0f995557dc38 9427202a3c29f94d
  a9eaa8c04ba93e3e eea4c1737d011218 912d568fd8f65a49 56919596b0ff5c97 02445a7998f550e1 86ec466ce71d1fb2
  359569e7d289e3bc 871b05ca62bb7c96 a1a492f942f15f1d 12ec267ff6095b6e 5d1b5ea1b231d89d d8cfb4453f92ee54
  d6762890bf26e460 313563a4b7ed5cf3 f90b3ab572d46693 2ea63c71bf326087
`
  .trim()
  .split(/\s+/);

const key: HashKey = { narrow0: 0x03020100, narrow1: 0x07060504, wide0: 0x0b0a0908, wide1: 0x0f0e0d0c };

function hash(text: string, by: HashKey = key): string {
  const out = new Int32Array(4);
  halfSipHash(text, by, out, 1);
  expect([out[0], out[3]]).toEqual([0, 0]);
  return Buffer.from(out.buffer, 4, 8).toString('hex');
}

describe('halfSipHash', () => {
  test.each(vectors.map((vector, length) => ({ length, vector })))(
    'gives the published hash of $length bytes',
    ({ length, vector }) => {
      expect(hash(String.fromCharCode(...Array(length).keys()))).toBe(vector);
    },
  );

  test('takes char codes up to 255 as bytes', () => {
    const a = hash('\u00ff'.repeat(7));
    expect(a).not.toBe(hash('\u007f'.repeat(7)));
    expect(a).toBe(hash('\u00ff'.repeat(7), { ...key, wide0: 0, wide1: 0 }));
  });

  // From the first place to the last, in a whole word and in the rest.
  test.each(['€', '€abc', 'abc€', 'abcd€', 'abcdefg€', 'abc€defg', '日本語テキスト', '🦦🦦🦦', '\ud800x'])(
    'hashes %j as its UTF-16LE bytes under the other key',
    (text) => {
      const bytes = Buffer.from(text, 'utf16le').toString('latin1');
      expect(hash(text)).toBe(hash(bytes, { ...key, narrow0: key.wide0, narrow1: key.wide1 }));
      expect(hash(text)).not.toBe(hash(bytes));
    },
  );

  test('gives other hashes under another key', () => {
    for (const text of ['', '12345678', '€']) {
      expect(hash(text, { narrow0: 1, narrow1: 2, wide0: 3, wide1: 4 })).not.toBe(hash(text));
    }
  });
});
