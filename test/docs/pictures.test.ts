import { readdirSync, readFileSync } from 'node:fs';
import { accountId, createLimiter, everyone } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';
import { burstRows, handledBursts } from '../../scripts/burst-comparison.mjs';
import { pictures } from '../../scripts/draw-limits.mjs';

const docs = new URL('../../docs/', import.meta.url);
const core = { accountId, createLimiter, everyone, FakeTime };
const drawn = await pictures(core);
const page = readFileSync(new URL('which-limit.md', docs), 'utf8');

describe('the pictures of docs/which-limit.md', () => {
  it.each(Object.entries(drawn))('%s is what `node scripts/draw-limits.mjs` draws', (name, picture) => {
    expect(readFileSync(new URL(`limits/${name}`, docs), 'utf8')).toBe(picture);
  });

  it('are all on the page, and the folder contains no others', () => {
    expect(readdirSync(new URL('limits', docs)).toSorted()).toEqual(Object.keys(drawn).toSorted());
    for (const name of Object.keys(drawn)) expect(page).toContain(`(limits/${name})`);
  });

  it('have colours for light and for dark pages, and a title and a description', () => {
    for (const picture of Object.values(drawn)) {
      expect(picture).toContain('@media (prefers-color-scheme: dark)');
      expect(picture).toMatch(/<title id="title">.+<\/title>\s*<desc id="desc">.+<\/desc>/);
    }
  });
});

describe('two hundred requests in 100 ms, at limits of 100 a second', async () => {
  const [bucket, queue, meter] = (await handledBursts(core)).map(({ starts }) => starts);

  it('are all allowed at once by a token bucket of 200', () => {
    expect(bucket).toEqual(Array.from({ length: 200 }, (_, i) => i * 0.5));
  });

  it('continue one every 10 ms for two seconds with a leaky bucket as a queue, and none is denied', () => {
    expect(queue).toEqual(Array.from({ length: 200 }, (_, i) => i * 10));
  });

  it('are denied by a leaky bucket as a meter, except for ten', () => {
    expect(meter).toEqual(Array.from({ length: 10 }, (_, i) => i * 10));
  });

  it('have the figures of the table in docs/which-limit.md', async () => {
    const rows = page.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
    expect(rows).toEqual(expect.arrayContaining(burstRows(await handledBursts(core))));
  });
});
