import { expect, test } from 'vitest';
import { play } from './straight-path.ts';

const { SLUICE_PATH_CALLS = '60000' } = process.env;

/** The least part of the calls that each of them must be in. */
const LEAST = 0.01;
const MET = [
  'check-and-spend',
  'check-only',
  'spend-only',
  'charge',
  'share',
  'override',
  'policy',
  'promise',
  'refund',
];
const ALSO_MET = ['replace', 'shadow', 'middleware', 'handle', 'check', 'spend', 'denied', 'blocked'];

test('by every door of a limiter, each call of a plan of rates has the figures of the exact rule', async () => {
  const calls = Number(SLUICE_PATH_CALLS);
  const { differences, coverage, digest } = await play(calls, 7);
  console.log(`${calls} calls, ${JSON.stringify(coverage)}, ${digest}`);
  expect(differences).toEqual([]);
  expect([...MET, ...ALSO_MET].filter((name) => (coverage[name] ?? 0) < LEAST * calls)).toEqual([]);
}, 600_000);
