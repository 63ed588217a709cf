import { describe, expect, it } from 'vitest';
import { decimalTimes, TimeReader } from '../../src/replay/entries/time-text.ts';

const MICROS = Date.UTC(2026, 10, 23, 13, 5, 59) * 1000;
const SECONDS = String(MICROS / 1e6);

/** Reads a time between other bytes. */
function read(text: string, times: TimeReader = new TimeReader()): number {
  const bytes = Buffer.from(`[${text}] `);
  return times.read(bytes, 1, bytes.length - 2);
}

function decimal(text: string, unit: number): number {
  const bytes = Buffer.from(text);
  return decimalTimes(unit, bytes, 0, bytes.length);
}

describe('TimeReader', () => {
  it.each([
    ['23/Nov/2026:13:05:59 +0000', 0],
    ['23/Nov/2026:14:05:59 +0100', 0],
    ['23/Nov/2026:09:35:59 -0330', 0],
    ['23/Nov/2026:13:05:59 Z', 0],
    ['23/Nov/2026:13:05:59', 0],
    ['23/Nov/2026:13:05:59 +0000 and more', 0],
    ['2026-11-23T13:05:59Z', 0],
    ['2026-11-23 13:05:59', 0],
    ['2026-11-23T14:05:59+01:00', 0],
    ['2026-11-23T08:05:59.25-0500', 250_000],
    ['2026-11-23T13:05:59.123456789Z', 123_456],
    [SECONDS, 0],
    [`${SECONDS}.5`, 500_000],
    [`${SECONDS}.1234567`, 123_456],
    [`${SECONDS}123`, 123_000],
    [`${SECONDS}123.25`, 123_250],
    [`${SECONDS}123456`, 123_456],
    [`${SECONDS}123456.7`, 123_456],
  ])('reads %s', (text, fraction) => {
    expect(read(text)).toBe(MICROS + fraction);
  });

  it('reads nanoseconds as whole microseconds, as far as a number is exact', () => {
    expect(Math.abs(read(`${SECONDS}123456789`) - MICROS - 123_456)).toBeLessThanOrEqual(1);
  });

  it.each([
    '',
    'yesterday',
    '12345678',
    '12345678901234567890',
    `${SECONDS}s`,
    `${SECONDS}.5s`,
    '9'.repeat(65),
    '23/Foo/2026:13:05:59 +0000',
    '23/Nov/2026 13:05:59 +0000',
    '23/Nov/2026:1x:05:59 +0000',
    '23/Nov/2026:13:05:59 GMT',
    '23/Nov/2026:13:05:59 +01',
    '23/Nov/2026:13:05:59 +0x00',
    '2026-11-23_13:05:59Z',
    '2026-11-23T13:05:59 CET',
    '2026-xx-23T13:05:59Z',
  ])("returns NaN for '%s', which is not a time", (text) => {
    expect(read(text)).toBeNaN();
  });

  it.each([
    '99/Nov/2026:99:99:99 +9999',
    '00/Nov/2026:13:05:59 +0000',
    '31/Nov/2026:13:05:59 +0000',
    '29/Feb/2026:13:05:59 +0000',
    '29/Feb/2100:13:05:59 +0000',
    '23/Nov/2026:24:00:00 +0000',
    '23/Nov/2026:13:60:59 +0000',
    '23/Nov/2026:13:05:61 +0000',
    '23/Nov/2026:13:05:59 +2400',
    '23/Nov/2026:13:05:59 +0060',
    '2026-02-30T13:05:59Z',
    '2026-00-23T13:05:59Z',
    '2026-13-23T13:05:59Z',
    '2026-11-00T13:05:59Z',
    '2026-11-23T24:00:00Z',
    '2026-11-23T13:05:59+99:99',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2200-01-01T00:00:00Z',
    '7258118400',
    '7258118400000.5',
    '9999999999999999999',
  ])("returns NaN for '%s', which does not exist or is no time of a log", (text) => {
    expect(read(text)).toBeNaN();
    const times = new TimeReader();
    expect([read(text, times), read(text, times), read('2026-11-23T13:05:59Z', times)]).toEqual([NaN, NaN, MICROS]);
  });

  it.each([
    ['29/Feb/2024:00:00:00 +0000', Date.UTC(2024, 1, 29)],
    ['2000-02-29T23:59:59Z', Date.UTC(2000, 1, 29, 23, 59, 59)],
    ['31/Dec/2016:23:59:60 +0000', Date.UTC(2017, 0, 1)],
    ['2026-12-31T23:59:59-12:00', Date.UTC(2027, 0, 1, 11, 59, 59)],
    ['1970-01-01T00:00:00+14:00', -14 * 3_600_000],
    ['2199-12-31T23:59:59Z', Date.UTC(2199, 11, 31, 23, 59, 59)],
    ['7258118399', Date.UTC(2199, 11, 31, 23, 59, 59)],
  ])('reads %s, which is at the edge of what exists', (text, ms) => {
    expect(read(text)).toBe(ms * 1000);
  });

  it('shows whether the last time had a fraction of a second', () => {
    const times = new TimeReader();
    const resolutions = ['23/Nov/2026:13:05:59 Z', '2026-11-23T13:05:59.1Z', '2026-11-23T13:05:59Z', SECONDS].map(
      (text) => [read(text, times), times.resolution][1],
    );
    expect(resolutions).toEqual(['second', 'fraction', 'second', 'second']);
    expect([read(`${SECONDS}000`, times), times.resolution]).toEqual([MICROS, 'fraction']);
  });

  it('reads the same as without memory of the time before, after any other time', () => {
    const texts = [
      '23/Nov/2026:13:05:59 +0000',
      '23/Nov/2026:13:05:58 +0000',
      '23/Nov/2026:13:05:58 +0100',
      '23/Nov/2026:xx:05:58 +0100',
      '23/Nov/2026:13:05:59 +0000 and more',
      '23/Nov/2026:13:05:59 +0000 and less',
      '2026-11-23T13:05:59.5Z',
      '2026-11-23T13:05:59.25+01:00',
      '2026-11-23T13:05:58Z',
      '2026-11-23Txx:05:58Z',
    ];
    const times = new TimeReader();
    for (const first of texts) {
      for (const second of texts) {
        for (const text of [first, first, second]) expect([text, read(text, times)]).toEqual([text, read(text)]);
      }
    }
  });
});

describe('decimalTimes', () => {
  it.each([
    ['0.125', 1e6, 125_000],
    ['.5', 1000, 500],
    ['77', 1000, 77_000],
    ['1300000000', 0.001, 1_300_000],
    ['1.5e-3', 1e6, 1500],
    ['2E2', 1, 200],
    ['1.5ms', 1e6, 1500],
    ['2s', 1, 2_000_000],
    ['250ns', 1e6, 0],
    ['12us', 1e6, 12],
    ['12.4µs', 1e6, 12],
  ])('reads %s in units of %d microseconds', (text, unit, micros) => {
    expect(decimal(text, unit)).toBe(micros);
  });

  it.each(['', '-', '-1', '1.2.3', '1h', 'fast', '1ms 2ms'])("returns NaN for '%s', which is not a number", (text) => {
    expect(decimal(text, 1)).toBeNaN();
  });
});
