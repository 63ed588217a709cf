import { expect, test } from 'vitest';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const numbers = { count: 1, period: '1s' };

test('a hidden limit decides and is reported like any other, marked as hidden', () => {
  const { limiter } = limiterOnFakeTime({ Ban: { ...numbers, hidden: true }, Reads: numbers });
  const both = ['Ban', 'Reads'].map((limit) => ({ limit, id: '7' }));
  expect(limiter.spendSync(both).results.map(({ hidden }) => hidden)).toEqual([true, false]);
  expect(limiter.spendSync(both)).toMatchObject({ outcome: 'denied', limit: 'Ban' });
});

test('hidden is true or false', () => {
  const make = () => limiterOnFakeTime({ Ban: { ...numbers, hidden: 'yes' as unknown as boolean } });
  expect(thrown(make)).toMatchObject({
    code: 'ERR_OPTION',
    message: "`limits.Ban.hidden` must be true or false, but was 'yes'. Write hidden: true, or leave it out.",
  });
});
