import { readdirSync, readFileSync } from 'node:fs';
import * as sluice from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, it } from 'vitest';
import { pictures as leasePictures } from '../../scripts/draw-leases.mjs';
import { pictures as limitPictures } from '../../scripts/draw-which-limit.mjs';
import { goodputs, pictures as overloadPictures, waveLevels } from '../../scripts/draw-overload.mjs';
import { reserveRows } from '../../scripts/simulated-reserve.mjs';

const docs = new URL('../../docs/', import.meta.url);
const core = { ...sluice, FakeTime };
const page = readFileSync(new URL('which-limit.md', docs), 'utf8');
const overloadPage = readFileSync(new URL('when-it-is-too-much.md', docs), 'utf8');

describe.each([
  { name: 'which-limit.md', text: page, folder: 'which-limit', drawn: await limitPictures(core) },
  {
    name: 'leases.md',
    text: readFileSync(new URL('leases.md', docs), 'utf8'),
    folder: 'leases',
    drawn: leasePictures(),
  },
  { name: 'when-it-is-too-much.md', text: overloadPage, folder: 'overload', drawn: await overloadPictures(core) },
])('the pictures of docs/$name', ({ text, folder, drawn }) => {
  it.each(Object.entries(drawn))(`%s is what \`node scripts/draw-${folder}.mjs\` draws`, (file, picture) => {
    expect(readFileSync(new URL(`${folder}/${file}`, docs), 'utf8')).toBe(picture);
  });

  it('are all on the page, and the folder contains no others', () => {
    expect(readdirSync(new URL(folder, docs)).toSorted()).toEqual(Object.keys(drawn).toSorted());
    for (const file of Object.keys(drawn)) expect(text).toContain(`(${folder}/${file})`);
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

it('the table of reserves of slots is what `node scripts/simulated-reserve.mjs` prints', async () => {
  const printed = await reserveRows(core);
  const rows = overloadPage.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
  const begin = rows.findIndex(([title]) => title === '`reserve`') + 2;
  expect(rows.slice(begin, begin + printed.length)).toEqual(printed);
});
