import { describe, expect, test } from 'vitest';
import { anchorOf } from '../../src/calendar/anchor.ts';
import { Calendar, calendarNamed, type CalendarUnit } from '../../src/calendar/calendar.ts';
import { checkTimeZone } from '../../src/calendar/time-zone.ts';
import { thrown } from '../support/thrown.ts';

const where = { option: 'anchor' };
const HOUR_MS = 3_600_000;

function calendar(unit: CalendarUnit, timeZone = 'UTC', anchor?: string | Date): Calendar {
  return new Calendar(unit, anchorOf(unit, timeZone, anchor, where), timeZone);
}

/** The start and the end of the period at a time, in UTC to the minute. */
function periodAt(of: Calendar, time: string): string[] {
  return of.periodAt(Date.parse(time)).map((ms) => new Date(ms).toISOString().replace(/:00\.000Z$/, 'Z'));
}

describe('the periods of UTC', () => {
  test.each([
    ['hour', '2026-11-22T16:00Z', '2026-11-22T17:00Z', '2026-11-22T18:00Z'],
    ['second', '2026-11-22T16:31:07.000Z', '2026-11-22T16:31:08.000Z', '2026-11-22T16:31:09.000Z'],
    ['minute', '2026-11-22T16:31Z', '2026-11-22T16:32Z', '2026-11-22T16:33Z'],
    ['day', '2026-11-22T00:00Z', '2026-11-23T00:00Z', '2026-11-24T00:00Z'],
    ['week', '2026-11-16T00:00Z', '2026-11-23T00:00Z', '2026-11-30T00:00Z'],
    ['month', '2026-11-01T00:00Z', '2026-12-01T00:00Z', '2027-01-01T00:00Z'],
    ['year', '2026-01-01T00:00Z', '2027-01-01T00:00Z', '2028-01-01T00:00Z'],
  ] as const)('%s', (unit, ...ends) => {
    expect(periodAt(calendar(unit), '2026-11-22T16:31:07.123Z')).toEqual(ends);
  });

  test('a period begins at its first millisecond and ends before the first of the next one', () => {
    const month = calendar('month');
    const [start, end] = month.periodAt(Date.UTC(2026, 5, 15));
    expect(month.periodAt(start)[0]).toBe(start);
    expect(month.periodAt(end - 1)[0]).toBe(start);
    expect(month.periodAt(end)[0]).toBe(end);
    expect(month.periodAt(start - 1)[1]).toBe(start);
  });

  test('February has 29 days in a leap year, but not in 2100', () => {
    expect(periodAt(calendar('month'), '2028-02-29T12:00Z').slice(0, 2)).toEqual([
      '2028-02-01T00:00Z',
      '2028-03-01T00:00Z',
    ]);
    expect(periodAt(calendar('day'), '2100-02-28T12:00Z')[1]).toBe('2100-03-01T00:00Z');
    expect(periodAt(calendar('year'), '1969-12-31T23:59Z')[0]).toBe('1969-01-01T00:00Z');
  });
});

describe('the days of a time zone', () => {
  const hours = (of: Calendar, time: string): number => {
    const [start, end] = of.periodAt(Date.parse(time));
    return (end - start) / HOUR_MS;
  };

  test.each([
    ['Europe/Berlin', '2026-03-29T12:00Z', 23],
    ['Europe/Berlin', '2026-10-25T12:00Z', 25],
    ['Europe/Berlin', '2026-06-01T12:00Z', 24],
    ['Australia/Lord_Howe', '2026-04-04T20:00Z', 24.5],
    ['Australia/Lord_Howe', '2026-10-03T20:00Z', 23.5],
    ['Asia/Kathmandu', '2026-06-01T12:00Z', 24],
    ['Antarctica/Troll', '2026-10-25T12:00Z', 26],
  ])('%s at %s has %d hours', (timeZone, time, length) => {
    expect(hours(calendar('day', timeZone), time)).toBe(length);
  });

  test('an offset of 45 minutes moves the day', () => {
    expect(periodAt(calendar('day', 'Asia/Kathmandu'), '2026-06-01T18:14Z')[1]).toBe('2026-06-01T18:15Z');
  });

  test.each([
    ['Africa/Cairo', '2026-04-24T09:00Z', '2026-04-23T22:00Z'],
    ['America/Santiago', '2026-09-06T15:00Z', '2026-09-06T04:00Z'],
    ['Asia/Beirut', '2026-03-29T09:00Z', '2026-03-28T22:00Z'],
  ])('%s has a day without midnight, which begins at 01:00', (timeZone, time, start) => {
    expect(periodAt(calendar('day', timeZone), time)[0]).toBe(start);
  });

  test.each([
    ['Africa/Cairo', '2026-10-29T12:00Z', '2026-10-29T22:00Z', 25],
    ['America/Santiago', '2026-04-04T12:00Z', '2026-04-05T04:00Z', 25],
    ['America/Havana', '2026-11-01T12:00Z', '2026-11-02T05:00Z', 25],
  ])('%s repeats the hour before or after a midnight, which belongs to one day', (timeZone, time, end, length) => {
    expect(periodAt(calendar('day', timeZone), time)[1]).toBe(end);
    expect(hours(calendar('day', timeZone), time)).toBe(length);
  });

  test('a day with two midnights begins at the first', () => {
    // St. John's set its clock from 00:01 back to 23:01 the day before.
    const day = calendar('day', 'America/St_Johns');
    expect(periodAt(day, '2010-11-07T03:00Z').slice(0, 2)).toEqual(['2010-11-07T02:30Z', '2010-11-08T03:30Z']);
  });

  test('a day that a time zone skips has no period', () => {
    const day = calendar('day', 'Pacific/Apia');
    expect(periodAt(day, '2011-12-30T00:00Z')).toEqual(['2011-12-29T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z']);
  });
});

test('an hour is always 60 minutes, and begins at a full hour of local time', () => {
  expect(periodAt(calendar('hour', 'Asia/Kolkata'), '2026-06-01T12:00Z')).toEqual([
    '2026-06-01T11:30Z',
    '2026-06-01T12:30Z',
    '2026-06-01T13:30Z',
  ]);
  expect(periodAt(calendar('hour', 'Europe/Berlin'), '2026-10-25T00:59Z')).toEqual([
    '2026-10-25T00:00Z',
    '2026-10-25T01:00Z',
    '2026-10-25T02:00Z',
  ]);
});

describe('an anchor', () => {
  const starts = (of: Calendar, time: string, count: number): string[] => {
    let at = Date.parse(time);
    return Array.from({ length: count }, () => {
      const [start, end] = of.periodAt(at);
      at = end;
      return new Date(start).toISOString().slice(0, 10);
    });
  };

  test('of 31 January gives 28 February and 31 March, and never drifts', () => {
    expect(starts(calendar('month', 'UTC', '2026-01-31'), '2026-01-31T00:00Z', 5)).toEqual([
      '2026-01-31',
      '2026-02-28',
      '2026-03-31',
      '2026-04-30',
      '2026-05-31',
    ]);
  });

  test('of 31 January may be any 31st: the periods are the same', () => {
    expect(calendar('month', 'UTC', '2026-01-31').name).toBe(calendar('month', 'UTC', '2019-08-31').name);
  });

  test('of 29 February gives 28 February in other years', () => {
    expect(starts(calendar('year', 'UTC', '2024-02-29'), '2027-06-01T00:00Z', 3)).toEqual([
      '2027-02-28',
      '2028-02-29',
      '2029-02-28',
    ]);
  });

  test.each([
    ['2026-11-22', '2026-11-22'],
    ['2026-11-21', '2026-11-21'],
    ['2026-11-23', '2026-11-16'],
  ])('of a week is its weekday: %s', (anchor, start) => {
    expect(starts(calendar('week', 'UTC', anchor), '2026-11-22T16:00Z', 1)).toEqual([start]);
  });

  test('before today begins at the running period', () => {
    expect(periodAt(calendar('month', 'UTC', '2026-01-23'), '2026-11-22T12:00Z').slice(0, 2)).toEqual([
      '2026-10-23T00:00Z',
      '2026-11-23T00:00Z',
    ]);
    expect(periodAt(calendar('year', 'UTC', '2020-11-23'), '2026-11-22T12:00Z')[0]).toBe('2025-11-23T00:00Z');
  });

  test('that is a Date has a local time of day', () => {
    const signedUp = new Date('2026-06-15T13:37:00.250Z');
    const day = calendar('day', 'Europe/Berlin', signedUp);
    expect(new Date(day.periodAt(Date.parse('2026-12-01T15:00Z'))[0]).toISOString()).toBe('2026-12-01T14:37:00.250Z');
    const hour = calendar('hour', 'Europe/Berlin', signedUp);
    expect(periodAt(hour, '2026-12-01T15:00Z')[0]).toBe('2026-12-01T14:37:00.250Z');
  });

  test('at a time that the clock skips begins with the change of the clock', () => {
    const day = calendar('day', 'Europe/Berlin', new Date('2026-01-31T01:30Z'));
    expect(periodAt(day, '2026-03-29T12:00Z').slice(0, 2)).toEqual(['2026-03-29T01:00Z', '2026-03-30T00:30Z']);
    expect(periodAt(day, '2026-03-29T00:59Z')[1]).toBe('2026-03-29T01:00Z');
  });

  test('is a local date: in Auckland the month begins half a day before that of UTC', () => {
    expect(periodAt(calendar('month', 'Pacific/Auckland', '2026-01-10'), '2026-06-09T13:00Z')[0]).toBe(
      '2026-06-09T12:00Z',
    );
  });

  test.each(['2026-02-31', '2026-13-01', '2026-1-31', '31.01.2026', '', 5, null, {}, new Date(NaN)])(
    '%o is an error',
    (anchor) => {
      const error = thrown(() => anchorOf('month', 'UTC', anchor, { option: 'limits.Monthly.anchor' }));
      expect(error.code).toBe('ERR_OPTION');
      expect(error.message).toMatch(
        /^`limits\.Monthly\.anchor` must be a date that exists, such as '2026-01-31', or a Date, but was /,
      );
    },
  );
});

describe('the name of a calendar', () => {
  test.each([
    ['month', 'Europe/Berlin', '2026-01-31', 'month:31:0:Europe/Berlin'],
    ['week', 'UTC', undefined, 'week:1:0:UTC'],
    ['year', 'UTC', '2024-02-29', 'year:229:0:UTC'],
    ['day', 'UTC', new Date('2026-01-31T06:30:00Z'), 'day:0:23400000:UTC'],
    ['hour', 'Asia/Kolkata', undefined, 'hour:0:1800000:UTC'],
  ] as const)('of a %s in %s is its definition', (unit, timeZone, anchor, name) => {
    expect(calendar(unit, timeZone, anchor).name).toBe(name);
    expect(calendarNamed(name).name).toBe(name);
    expect(calendarNamed(name).periodAt(1e12)).toEqual(calendar(unit, timeZone, anchor).periodAt(1e12));
  });

  test('gives the same calendar each time', () => {
    expect(calendarNamed('month:3:0:UTC')).toBe(calendarNamed('month:3:0:UTC'));
  });

  test('gives the calendar also after 10,000 others', () => {
    const first = calendarNamed('day:0:1:UTC');
    for (let i = 0; i <= 10_000; i++) calendarNamed(`day:0:${i + 2}:UTC`);
    expect(calendarNamed('day:0:1:UTC')).not.toBe(first);
    expect(calendarNamed('day:0:1:UTC').periodAt(0)).toEqual(first.periodAt(0));
  });
});

test('the current period is computed once', () => {
  const month = calendar('month', 'Europe/Berlin');
  expect(month.periodAt(Date.UTC(2026, 5, 2))).toBe(month.periodAt(Date.UTC(2026, 5, 28)));
});

test.each(['Europe/Berlin', 'UTC', 'Asia/Kathmandu'])('%s is a time zone', (name) => {
  expect(checkTimeZone('timeZone', name)).toBe(name);
});

test.each(['Europe/Berlim', '', 'CEST2', 1, null])('%o is not a time zone', (name) => {
  const error = thrown(() => checkTimeZone('limits.Monthly.timeZone', name));
  expect(error.code).toBe('ERR_OPTION');
  expect(error.message).toMatch(
    /^`limits\.Monthly\.timeZone` must be a time zone of the IANA database, but was .*For example timeZone: 'Europe\/Berlin'\. For UTC leave it out\.$/,
  );
});
