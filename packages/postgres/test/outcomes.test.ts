import { expect, test } from 'vitest';
import { until } from '../../../test/redis/servers/until.ts';
import { Outcomes } from '../src/calls/outcomes.ts';

test('answers are told before failures, and those that arrive meanwhile before most of them', async () => {
  const outcomes = new Outcomes();
  const told: string[] = [];
  for (let i = 0; i < 100; i++) {
    outcomes.addFailure(() => {
      if (i === 0) outcomes.addAnswer(() => told.push('second answer'));
      told.push(`failure ${i}`);
    });
  }
  outcomes.addAnswer(() => told.push('first answer'));
  expect(told).toEqual([]);
  await until('all are told', () => told.length === 102);
  expect(told.indexOf('first answer')).toBe(0);
  expect(told.indexOf('second answer')).toBe(17);
  expect(told.filter((each) => each.startsWith('failure'))).toEqual(
    Array.from({ length: 100 }, (_, i) => `failure ${i}`),
  );
});
