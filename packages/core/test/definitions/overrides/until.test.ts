import { accountId, compound, createLimiter, ipAddress, memoryStore, OverrideList } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { until } from '@sluice/core/until';
import { expect, test } from 'vitest';
import { thrown } from '../../support/thrown.ts';

const TEN = { count: 10, period: '1h' };

/** What an id has at each of some times: its burst, or `blocked` or `unlimited`. */
function figuresAt(
  times: readonly string[],
  given: Pick<Parameters<typeof createLimiter>[0], 'limits' | 'overrides'>,
  id: string,
): readonly (number | string)[] {
  const time = new FakeTime(Date.parse(times[0]!));
  const limiter = createLimiter({ ...given, store: memoryStore({ time }), time });
  return times.map((at) => {
    time.setWall(Date.parse(at));
    const { blocked, results } = limiter.checkSync([{ limit: 'Requests', id }]);
    return blocked ? 'blocked' : (results[0]?.burst ?? 'unlimited');
  });
}

const rate = { Requests: { key: accountId(), count: 1, period: '1h' } };

test('an override applies to the end of its day, without a reload', () => {
  const overrides = { Requests: { a: until('2027-01-31', TEN) } };
  const times = ['2027-01-01T00:00Z', '2027-01-31T23:59:59.999Z', '2027-02-01T00:00Z', '2027-03-01T00:00Z'];
  expect(figuresAt(times, { limits: rate, overrides }, 'a')).toEqual([10, 10, 1, 1]);
  // The others have the numbers of the limit.
  expect(figuresAt(times, { limits: rate, overrides }, 'b')).toEqual([1, 1, 1, 1]);
});

test.each([
  ['2027-01-31T18:00', '2027-01-31T18:00Z'],
  ['2027-01-31T18:00:30', '2027-01-31T18:00:30Z'],
  ['2027-01-31T18:00+02:00', '2027-01-31T16:00Z'],
  [new Date('2027-01-31T18:00:00.500Z'), '2027-01-31T18:00:00.500Z'],
])('an override until %s ends at %s', (end, instant) => {
  const before = new Date(Date.parse(instant) - 1).toISOString();
  const overrides = { Requests: { a: until(end, TEN) } };
  expect(figuresAt([before, instant], { limits: rate, overrides }, 'a')).toEqual([10, 1]);
});

test('a list of two limiters ends by the clock and the time zone of each', () => {
  const limits = { Requests: quota({ key: accountId(), count: 1, per: 'day' }) };
  const inTokyo = { Requests: quota({ key: accountId(), count: 1, per: 'day', timeZone: 'Asia/Tokyo' }) };
  const overrides = new OverrideList();
  overrides.add('Requests', limits.Requests, 'a', until('2027-01-31', { count: 10 }));
  const burstsOf = (times: readonly string[], other: typeof limits): (() => readonly (number | undefined)[]) => {
    const limiters = times.map((at) => {
      const time = new FakeTime(Date.parse(at));
      return createLimiter({ limits: other, overrides, store: memoryStore({ time }), time });
    });
    return () => limiters.map((each) => each.checkSync([{ limit: 'Requests', id: 'a' }]).results[0]?.burst);
  };
  const times = ['2027-01-01T00:00Z', '2027-01-31T18:00Z', '2030-01-01T00:00Z'];
  const [here, there] = [burstsOf(times, limits), burstsOf(times, inTokyo)];
  expect([here(), there()]).toEqual([
    [10, 10, 1],
    [10, 1, 1],
  ]);
});

test.each(['unlimited', 'blocked'] as const)('an id is %s until an end', (override) => {
  const overrides = { Requests: { a: until('2027-01-31', override) } };
  const times = ['2027-01-31T00:00Z', '2027-02-01T00:00Z'];
  expect(figuresAt(times, { limits: rate, overrides }, 'a')).toEqual([override, 1]);
});

test('an end that has passed is not applied, and a clock that goes back applies it again', () => {
  const limits = rate;
  const overrides = { Requests: { a: until('2020-01-31', TEN) } };
  expect(figuresAt(['2027-01-01T00:00Z'], { limits, overrides }, 'a')).toEqual([1]);
  expect(figuresAt(['2020-02-01T00:00Z', '2020-01-31T00:00Z'], { limits, overrides }, 'a')).toEqual([1, 10]);
});

test('after the end of an override, a wider network or fewer parts of the id apply', () => {
  const limits = { Requests: { key: ipAddress(), count: 1, period: '1h' } };
  const overrides = {
    Requests: {
      '10.0.0.0/8': { count: 2, period: '1h' },
      '10.1.0.0/16': until('2027-01-10', { count: 3, period: '1h' }),
      '10.1.2.3': until('2027-01-05', { count: 4, period: '1h' }),
    },
  };
  const times = ['2027-01-01T00:00Z', '2027-01-06T00:00Z', '2027-01-11T00:00Z'];
  expect(figuresAt(times, { limits, overrides }, '10.1.2.3')).toEqual([4, 3, 2]);
  const parts = { Requests: { key: compound(accountId(), accountId(), accountId()), count: 1, period: '1h' } };
  const ofParts = {
    Requests: {
      a: { count: 2, period: '1h' },
      'a:b': until('2027-01-10', { count: 3, period: '1h' }),
      'a:b:c': until('2027-01-05', { count: 4, period: '1h' }),
    },
  };
  expect(figuresAt(times, { limits: parts, overrides: ofParts }, 'a:b:c')).toEqual([4, 3, 2]);
});

// The clocks of Berlin go forward on 28 March 2027 at 2:00, those of Santiago on 5 September 2027 at 24:00 before.
test.each([
  ['Europe/Berlin', '2027-01-31', '2027-01-31T23:00Z'],
  ['Europe/Berlin', '2027-03-28', '2027-03-28T22:00Z'],
  ['Europe/Berlin', '2027-03-28T02:30', '2027-03-28T01:00Z'],
  ['Europe/Berlin', '2027-10-31T02:30', '2027-10-31T00:30Z'],
  ['America/Santiago', '2027-09-04', '2027-09-05T04:00Z'],
  ['Pacific/Kiritimati', '2027-01-31', '2027-01-31T10:00Z'],
])('in %s, %s ends at %s', (timeZone, end, instant) => {
  const limits = { Requests: quota({ key: accountId(), count: 1, per: 'month', timeZone }) };
  const overrides = { Requests: { a: until(end, { count: 10 }) } };
  const before = new Date(Date.parse(instant) - 1).toISOString();
  expect(figuresAt([before, instant], { limits, overrides }, 'a')).toEqual([10, 1]);
});

test.each(['2027-02-30', '2027-13-01', '2027-1-31', '31.01.2027', '2027-01-31T25:00', '2027-01-31 18:00', '', 7, null])(
  'the end %j is rejected with a remedy',
  (end) => {
    const error = thrown(() => until(end as string, TEN));
    expect(error).toMatchObject({ code: 'ERR_OPTION' });
    expect(error.message).toMatch(
      /^`until` must be a day that exists, such as 2027-01-31.* For example until: 2027-01-31/,
    );
  },
);

test('a Date that is not a time is rejected', () => {
  expect(thrown(() => until(new Date(NaN), TEN)).message).toContain('`until` must be a day that exists');
});

test('the numbers of an override with an end are validated, and an id is listed once', () => {
  const limiterOf = (overrides: object) => () => createLimiter({ limits: rate, overrides: overrides as never });
  expect(thrown(limiterOf({ Requests: { a: until('2027-01-31', { count: 0, period: '1h' }) } })).message).toContain(
    "overrides.Requests['a'].count",
  );
  const list = new OverrideList();
  list.add('Requests', rate.Requests, 'a', TEN);
  expect(thrown(() => list.add('Requests', rate.Requests, 'a', until('2027-01-31', TEN))).message).toContain('twice');
});

test('100,000 overrides with ends take one look at a clock for each decision', () => {
  const time = new FakeTime(Date.parse('2027-01-01T00:00Z'));
  const list = new OverrideList();
  const overrides = ['2027-01-10', '2027-01-20', '2027-02-28'].map((end) => until(end, TEN));
  for (let i = 0; i < 100_000; i++) list.add('Requests', rate.Requests, `id${i}`, overrides[i % 3]!);
  const limiter = createLimiter({ limits: rate, overrides: list, store: memoryStore({ time }), time });
  const burstOf = (id: string) => limiter.checkSync([{ limit: 'Requests', id }]).results[0]!.burst;
  const all = () => [0, 1, 2, 99_997].map((i) => burstOf(`id${i}`));
  expect(all()).toEqual([10, 10, 10, 10]);
  time.advance(Date.parse('2027-01-15T00:00Z') - time.wallNow());
  expect(all()).toEqual([1, 10, 10, 10]);
  time.advance(Date.parse('2027-01-25T00:00Z') - time.wallNow());
  expect(all()).toEqual([1, 1, 10, 1]);
  let looks = 0;
  const wallNow = time.wallNow.bind(time);
  Object.assign(time, { wallNow: () => (looks++, wallNow()) });
  burstOf('id2');
  expect(looks).toBe(1);
});
