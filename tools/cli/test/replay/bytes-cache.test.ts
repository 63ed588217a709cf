import { describe, expect, it } from 'vitest';
import { BytesCache } from '../../src/replay/entries/bytes-cache.ts';
import { seededRandom } from './logs.ts';

/** Asks for a text between other bytes, and sets its value if it has none. */
function ask(cache: BytesCache<string>, text: string): string | undefined {
  const bytes = Buffer.from(`<${text}>`);
  const found = cache.get(bytes, 1, bytes.length - 1);
  if (found === undefined) cache.set(bytes, 1, bytes.length - 1, text);
  return found;
}

describe('BytesCache', () => {
  it('returns the value of the same bytes only, however many texts share its places', () => {
    const [cache, random] = [new BytesCache<string>(4096), seededRandom(1)];
    let [hits, wrong] = [0, 0];
    for (let i = 0; i < 200_000; i++) {
      const text = `10.${Math.floor(random() ** 3 * 200)}.${Math.floor(random() * 256)}.7`;
      const found = ask(cache, text);
      if (found !== undefined) hits++;
      if ((found ?? text) !== text) wrong++;
    }
    expect(wrong).toBe(0);
    expect(hits).toBeGreaterThan(25_000);
  });

  it('remembers a text from its second time on, also an empty one', () => {
    const cache = new BytesCache<string>(64);
    for (const text of ['', '10.0.0.1']) {
      expect([ask(cache, text), ask(cache, text), ask(cache, text)]).toEqual([undefined, undefined, text]);
    }
  });

  it('forgets no text because of others that come once', () => {
    const cache = new BytesCache<string>(1);
    for (let i = 0; i < 3; i++) ask(cache, 'often');
    for (let i = 0; i < 1000; i++) {
      expect(ask(cache, `once ${i}`)).toBeUndefined();
      expect(ask(cache, 'often')).toBe('often');
    }
    ask(cache, 'now');
    ask(cache, 'now');
    expect([ask(cache, 'now'), ask(cache, 'often')]).toEqual(['now', undefined]);
  });

  it('begins small, and has more places when more texts are asked for', () => {
    const cache = new BytesCache<string>(8192);
    const found = () => Array.from({ length: 2000 }, (_, i) => ask(cache, `text ${i}`)).filter(Boolean).length;
    for (let round = 0; round < 9; round++) found();
    expect(found()).toBeGreaterThan(1024);
  });

  it('does not remember texts of more than 64 bytes', () => {
    const cache = new BytesCache<string>(64);
    for (const length of [64, 65]) {
      const text = 'a'.repeat(length);
      expect([ask(cache, text), ask(cache, text), ask(cache, text)].at(-1)).toBe(length === 64 ? text : undefined);
    }
  });
});
