import { readdirSync, readFileSync } from 'node:fs';
import { accountId, createLimiter, everyone } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';
import { afterSilence, pictures, silenceRows } from '../../scripts/draw-limits.mjs';

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

describe('two hundred requests in 100 ms at 100 a second, after five seconds of silence', async () => {
  const [bucket, queue, drops] = (await afterSilence(core)).map(({ starts }) => starts);

  it('pass a token bucket of 200 at once', () => {
    expect(bucket).toEqual(Array.from({ length: 200 }, (_, i) => i * 0.5));
  });

  it('go on one every 10 ms for two seconds in a leaky bucket as a queue, and nobody is denied', () => {
    expect(queue).toEqual(Array.from({ length: 200 }, (_, i) => i * 10));
  });

  it('are ten in a leaky bucket that drops', () => {
    expect(drops).toEqual(Array.from({ length: 10 }, (_, i) => i * 10));
  });

  it('are in the table of docs/which-limit.md as the limiter decides them', async () => {
    const rows = page.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
    expect(rows).toEqual(expect.arrayContaining(silenceRows(await afterSilence(core))));
  });
});
