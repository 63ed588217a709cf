import { describe, expect, it } from 'vitest';
import { BytesCache } from '../../src/replay/entries/bytes-cache.ts';
import { seededRandom } from './logs.ts';

describe('BytesCache', () => {
  it('returns the value of the same bytes only, however many texts share its places', () => {
    const [cache, random] = [new BytesCache<string>(), seededRandom(1)];
    let hits = 0;
    for (let i = 0; i < 200_000; i++) {
      const text = `10.${Math.floor(random() ** 3 * 200)}.${Math.floor(random() * 256)}.7`;
      const bytes = Buffer.from(`<${text}>`);
      const found = cache.get(bytes, 1, bytes.length - 1);
      if (found === undefined) cache.set(bytes, 1, bytes.length - 1, text);
      else hits++;
      expect(found ?? text).toBe(text);
    }
    expect(hits).toBeGreaterThan(50_000);
  });

  it('does not remember texts of more than 64 bytes', () => {
    const cache = new BytesCache<string>();
    const bytes = Buffer.alloc(65, 'a');
    expect(cache.get(bytes, 0, 65)).toBeUndefined();
    cache.set(bytes, 0, 65, 'a');
    expect(cache.get(bytes, 0, 65)).toBeUndefined();
    expect(cache.get(bytes, 0, 0)).toBeUndefined();
  });
});
