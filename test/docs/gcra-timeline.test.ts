import { readFileSync } from 'node:fs';
import * as core from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { expect, it } from 'vitest';
import { drawTimeline, timeline, timelineRows } from '../../scripts/draw-gcra-timeline.mjs';

const docs = new URL('../../docs/', import.meta.url);
const steps = await timeline({ ...core, FakeTime });

it('the picture of docs/gcra.md is what `node scripts/draw-gcra-timeline.mjs` draws', () => {
  expect(readFileSync(new URL('gcra-timeline.svg', docs), 'utf8')).toBe(drawTimeline(steps));
});

it('the table of docs/gcra.md is what the limiter decides', () => {
  const page = readFileSync(new URL('gcra.md', docs), 'utf8');
  const rows = page.split('\n').map((line) => line.replaceAll(/ +/g, ' '));
  expect(rows).toEqual(expect.arrayContaining(timelineRows(steps)));
});
