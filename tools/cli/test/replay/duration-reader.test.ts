import { describe, expect, it } from 'vitest';
import { DurationReader } from '../../src/replay/entries/duration-reader.ts';
import type { LogFormat } from '../../src/replay/formats/line-parser.ts';

const FIELDS = ['time', 'started', 'duration'];

/** Reads a line with these values. */
function read(values: { time?: string; started?: string; duration?: string }, format: Partial<LogFormat> = {}): number {
  const usual = { name: 'a', isJson: false, durationUnit: 'ms', timeIs: 'end' } as const;
  const texts = FIELDS.map((field) => values[field as keyof typeof values]);
  const spans = new Int32Array(2 * FIELDS.length).fill(-1);
  let line = '';
  for (const [i, text] of texts.entries()) {
    if (text === undefined) continue;
    spans.set([line.length, line.length + text.length], 2 * i);
    line += `${text} `;
  }
  const reader = new DurationReader({ ...usual, ...format } as LogFormat, FIELDS);
  return reader.read(Buffer.from(line), spans);
}

const [TIME, STARTED] = ['2026-11-23T12:00:01.250Z', '2026-11-23T12:00:00.125000Z'];

describe('DurationReader', () => {
  it('reads the duration of a line, in the unit of its format', () => {
    expect(read({ time: TIME, duration: '12.5' })).toBe(12_500);
    expect(read({ time: TIME, duration: '0.125' }, { durationUnit: 's', timeIs: 'start' })).toBe(125_000);
  });

  it('otherwise takes the time between the start and the end', () => {
    expect(read({ time: TIME, started: STARTED })).toBe(1_125_000);
  });

  it.each([
    ['no duration and no start', { time: TIME }, {}],
    ['no end', { started: STARTED }, {}],
    ['two starts', { time: TIME, started: STARTED }, { timeIs: 'start' } as const],
    ['an end before its start', { time: STARTED, started: TIME }, {}],
    ['text', { time: TIME, duration: '-' }, {}],
    ['a negative duration', { time: TIME, duration: '-5' }, {}],
    ['an endless duration', { time: TIME, duration: '1e999' }, {}],
    ['a time that is not one', { time: 'now', started: STARTED }, {}],
  ])('finds none in a line with %s', (_, values, format) => {
    expect(read(values, format)).toBeNaN();
  });
});
