import { expect, test } from 'vitest';
import { until } from '../../../test/redis/servers/until.ts';
import { Outcomes } from '../src/calls/outcomes.ts';

test('answers reach their callers before failures, and answers that arrive meanwhile before most failures', async () => {
  const outcomes = new Outcomes();
  const called: string[] = [];
  for (let i = 0; i < 100; i++) {
    outcomes.addFailure(() => {
      if (i === 0) outcomes.addAnswer(() => called.push('second answer'));
      called.push(`failure ${i}`);
    });
  }
  outcomes.addAnswer(() => called.push('first answer'));
  expect(called).toEqual([]);
  await until('all callers are called back', () => called.length === 102);
  expect(called.indexOf('first answer')).toBe(0);
  expect(called.indexOf('second answer')).toBe(17);
  expect(called.filter((each) => each.startsWith('failure'))).toEqual(
    Array.from({ length: 100 }, (_, i) => `failure ${i}`),
  );
});
