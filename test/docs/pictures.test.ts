import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import * as sluice from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { load, loadFrom } from '@sluice/core/load';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';
import { goodputs, pictures as loadPictures, waveLevels } from '../../scripts/draw-load.mjs';
import { pictures as marketOpenPictures } from '../../scripts/draw-market-open.mjs';
import { pictures as limitPictures } from '../../scripts/draw-which-limit.mjs';

const docs = new URL('../../docs/', import.meta.url);
const core = { ...sluice, borrow, load, loadFrom, quota, FakeTime };
const textOf = (page: string): string => readFileSync(new URL(page, docs), 'utf8');

describe.each([
  { name: 'which-limit', drawn: await limitPictures(core) },
  { name: 'measured/market-open', drawn: marketOpenPictures() },
  { name: 'load', drawn: await loadPictures(core) },
])('the pictures of docs/$name.md', ({ name, drawn }) => {
  const folder = basename(name);

  it.each(Object.entries(drawn))(`%s is what \`node scripts/draw-${folder}.mjs\` draws`, (file, picture) => {
    expect(readFileSync(new URL(`${name}/${file}`, docs), 'utf8')).toBe(picture);
  });

  it('are all on the page, and the folder contains no others', () => {
    expect(readdirSync(new URL(name, docs)).toSorted()).toEqual(Object.keys(drawn).toSorted());
    for (const file of Object.keys(drawn)) expect(textOf(`${name}.md`)).toContain(`(${folder}/${file})`);
  });

  it('draw no line over a label: labels come last, with a margin in the colour of the ground', () => {
    for (const picture of Object.values(drawn)) {
      expect(picture.lastIndexOf('<path')).toBeLessThan(picture.indexOf('<text'));
      expect(picture).toMatch(/text \{ paint-order: stroke;/);
      const grounds = [...picture.matchAll(/\.ground \{ fill: (#\w+); \}/g)].map(([, colour]) => colour);
      const margins = [...picture.matchAll(/text, text\[class\] \{ stroke: (#\w+); \}/g)].map(([, colour]) => colour);
      expect(margins).toEqual(grounds);
    }
  });

  it('have colours for light and for dark pages, and a title and a description', () => {
    for (const picture of Object.values(drawn)) {
      expect(picture).toContain('@media (prefers-color-scheme: dark)');
      expect(picture).toMatch(/<title id="title">.+<\/title>\s*<desc id="desc">.+<\/desc>/);
    }
  });
});

describe('a simulated process with a load limit', async () => {
  const rows = await goodputs(core);
  const peak = Math.max(...rows.map(({ shedding }) => shedding));
  const [last] = rows.slice(-1);

  it('still does nine tenths of its best at three times its capacity, and nothing without the limit', () => {
    expect(last!.percent).toBe(300);
    expect(last!.shedding).toBeGreaterThan(0.9 * peak);
    expect(last!.other).toBe(0);
  });

  it('denies no checkout at any load, and answers all of them in time', () => {
    expect(rows.map(({ checkoutsDenied, checkoutsLate }) => checkoutsDenied + checkoutsLate)).toEqual(
      rows.map(() => 0),
    );
  });

  it('changes the direction of its level once in each half of a square wave, not counting changes below 0.1', async () => {
    const levels = (await waveLevels(core)).map(({ value }) => value);
    expect(turnsOf(levels)).toBe(3);
  });
});

/** How often levels that rose fell again by 0.1 or more, or the other way round. */
function turnsOf(levels: readonly number[]): number {
  let [turns, sign, farthest] = [0, 1, 0];
  for (const level of levels) {
    if (sign * (farthest - level) < 0.1) {
      farthest = sign * Math.max(sign * farthest, sign * level);
    } else {
      turns++;
      sign = -sign;
      farthest = level;
    }
  }
  return turns;
}
