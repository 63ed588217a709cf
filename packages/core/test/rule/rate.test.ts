import { describe, expect, test } from 'vitest';
import { rateOf, type LimitNumbers } from '../../src/rule/rate.ts';
import { thrown } from '../support/thrown.ts';

const rate = (numbers: object) => rateOf('limits.Orders', numbers as LimitNumbers);

describe('numbers on the time grid', () => {
  test.each([
    { count: 1, period: '1s', interval: 16_000_000, burst: 1 },
    { count: 20, period: '1s', interval: 800_000, burst: 20 },
    { count: 7, period: '1s', interval: 2_285_714, burst: 7 },
    { count: 7, burst: 1, period: '1s', interval: 2_285_714 },
    { count: 3, burst: 9, period: '1ms', interval: 5333 },
    { count: 16_000, period: '1ms', interval: 1, burst: 16_000 },
    { count: 1, burst: 9, period: '366d', interval: 366 * 86_400 * 16e6 },
    { count: 1e9, period: '366d', interval: 505_958, burst: 1e9 },
  ])('$count per $period is one token every $interval ticks', ({ interval, burst, ...numbers }) => {
    const { emissionIntervalTicks, toleranceTicks, ...written } = rate({ burst, ...numbers });
    expect(emissionIntervalTicks).toBe(interval);
    expect(toleranceTicks).toBe(interval * written.burst);
    expect(written.count).toBe(numbers.count);
  });

  test('burst is count unless given', () => {
    expect(rate({ count: 7, period: '1s' }).burst).toBe(7);
    expect(rate({ count: 7, burst: undefined, period: '1s' }).burst).toBe(7);
    expect(rate({ count: 7, burst: 9, period: '1s' }).burst).toBe(9);
  });

  test('the period is reported in milliseconds, as it was written', () => {
    expect(rate({ count: 7, period: '1m30s' }).periodMs).toBe(90_000);
    expect(rate({ count: 7, period: '1500us' }).periodMs).toBe(1.5);
  });

  test.each([
    { from: 1, to: 1000, percent: 0.01 },
    { from: 1001, to: 10_000, percent: 0.1 },
    { from: 10_001, to: 100_000, percent: 1 },
  ])('from $from to $to per second the rate is at most $percent % above what is written', ({ from, to, percent }) => {
    const errors: number[] = [];
    for (let count = from; count <= to; count++) {
      const { emissionIntervalTicks } = rate({ count, period: '1s' });
      errors.push((16e6 - emissionIntervalTicks * count) / (emissionIntervalTicks * count));
    }
    expect(errors.filter((error) => error < 0)).toEqual([]);
    expect(errors.filter((error) => error * 100 > percent)).toEqual([]);
  });
});

const REMEDY = 'To allow no bursts use burst: 1; for no limit leave the limit out.';
const NAN_REMEDY = `NaN comes from a calculation or a Number() of text, often of an environment variable that is not set.`;

describe('a debt', () => {
  test('is kept as given, also 0, and undefined if it is not given', () => {
    expect(rate({ count: 1, period: '1s', maxDebt: 5 }).maxDebt).toBe(5);
    expect(rate({ count: 1, period: '1s', maxDebt: 0 }).maxDebt).toBe(0);
    expect(rate({ count: 1, period: '1s' }).maxDebt).toBeUndefined();
  });

  test.each([-1, 0.5, 1e9 + 1, '5', null])('of %s is an error that shows the range', (maxDebt) => {
    const { code, message } = thrown(() => rate({ count: 1, period: '1s', maxDebt }));
    expect(code).toBe('ERR_OPTION');
    expect(message).toContain('`limits.Orders.maxDebt` must be a whole number from 0 to 1000000000');
  });

  test('may be as high as a bucket with it refills within ten years, and no higher', () => {
    expect(rate({ burst: 1, count: 1, period: '365.25d', maxDebt: 9 }).maxDebt).toBe(9);
    const { code, message } = thrown(() => rate({ burst: 1, count: 1, period: '365.25d', maxDebt: 10 }));
    expect(code).toBe('ERR_LIMIT');
    expect(message).toBe(
      '`limits.Orders.maxDebt` must be small enough for a bucket with this debt to fill within ten years ((burst + maxDebt) × period / count), but was 10. With these numbers use maxDebt: 9 or less.',
    );
  });
});

test('a count that was left out is shown by an example', () => {
  const { message } = thrown(() => rate({ period: '1s' }));
  expect(message).toMatch("but was undefined. For example count: 100, period: '1m'.");
});

const FRACTION_REMEDY =
  "For a fraction multiply count and period by the same number: 5.5 per second are count: 11, period: '2s'.";
const TOO_MANY_REMEDY =
  "For no limit leave the limit out. For more, as money has, use a quota, such as per: 'month', or let a token stand for more, in all costs too.";

describe('a number out of range is rejected:', () => {
  test.each<[field: string, value: unknown, shown: string, remedy?: string]>([
    ['count', 0, '0'],
    ['count', -1, '-1'],
    ['count', 1.5, '1.5', FRACTION_REMEDY],
    ['count', 5.5, '5.5', FRACTION_REMEDY],
    ['count', Number.NaN, 'NaN', `${NAN_REMEDY} For example count: 100, period: '1m'.`],
    ['count', Infinity, 'Infinity'],
    ['count', 1e9 + 1, '1000000001', TOO_MANY_REMEDY],
    ['count', '100', "'100'", 'Write count: 100.'],
    ['count', 100n, '100n', 'Write count: 100.'],
    ['count', '100_000', "'100_000'", 'Write count: 100000.'],
    ['count', '100 requests', "'100 requests'", "For example count: 100, period: '1m'."],
    ['count', null, 'null'],
    ['burst', 0, '0'],
    ['burst', -1, '-1'],
    ['burst', 0.5, '0.5', 'For example burst: 1.'],
    ['burst', 5.5, '5.5', 'For example burst: 6.'],
    ['burst', Number.NaN, 'NaN', `${NAN_REMEDY} For example burst: 100.`],
    ['burst', 1e9 + 1, '1000000001', TOO_MANY_REMEDY],
    ['burst', '5', "'5'", 'Write burst: 5.'],
    ['burst', '5s', "'5s'", 'For example burst: 100.'],
    ['burst', '0', "'0'"],
    ['burst', null, 'null'],
  ])('%s: %o', (field, value, shown, remedy = REMEDY) => {
    const error = thrown(() => rate({ count: 5, period: '1s', [field]: value }));
    expect(error).toMatchObject({ code: 'ERR_OPTION', status: 500 });
    expect(error.message).toBe(
      `\`limits.Orders.${field}\` must be a whole number from 1 to 1000000000, but was ${shown}. ${remedy}`,
    );
  });

  test('a period out of range', () => {
    expect(thrown(() => rate({ count: 1, period: '367d' })).code).toBe('ERR_DURATION');
    expect(thrown(() => rate({ count: 1, period: '500us' })).code).toBe('ERR_DURATION');
    expect(thrown(() => rate({ count: 1 })).message).toContain('`limits.Orders.period` must be a duration');
  });
});

describe('numbers that the time grid can not represent are rejected when they are defined:', () => {
  test('less than a tick for a token', () => {
    expect(rate({ count: 16_000, period: '1ms' }).emissionIntervalTicks).toBe(1);
    const error = thrown(() => rate({ count: 16_001, period: '1ms' }));
    expect(error.code).toBe('ERR_LIMIT');
    expect(error.message).toBe(
      "`limits.Orders.count` must be at most 16 per microsecond of the period, but was '16001 per 1 ms'. " +
        'Use a smaller count or a longer period.',
    );
  });

  test('more than ten years to fill, with the burst that would do', () => {
    expect(rate({ count: 1, burst: 3652, period: '1d' }).burst).toBe(3652);
    const error = thrown(() => rate({ count: 1, burst: 3653, period: '1d' }));
    expect(error.code).toBe('ERR_LIMIT');
    expect(error.message).toBe(
      '`limits.Orders.burst` must be small enough for an empty bucket to fill within ten years (burst × period / count), ' +
        'but was 3653. With this count and period use burst: 3652 or less.',
    );
  });
});
