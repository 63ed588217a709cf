import type { LimiterEvent } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import type { EventSink, EventLine } from '../../src/events/event.ts';
import { logged } from '../../src/events/event-sink.ts';
import { systemTime } from '../../src/time/system-time.ts';

function started() {
  const time = new FakeTime();
  const lines: string[] = [];
  const emit = logged((line) => lines.push(line), time);
  const warn = (message: string): void => emit({ type: 'warning', message });
  /** Ends the ten seconds that began with a line of the store's state, if any have. */
  const endSpan = (): void => time.advance(10_000);
  return { time, lines, emit, warn, endSpan };
}

const lost = (message: string): LimiterEvent => ({ type: 'charge-lost', count: 1, cause: null, message });

test('the first event of a kind is a line at once', () => {
  const { lines, emit, warn } = started();
  warn('look here');
  emit(lost('one charge is lost'));
  expect(lines).toEqual(['look here', 'one charge is lost']);
});

test('those of the next ten seconds are left out, and counted in the next line', () => {
  const { time, lines, warn } = started();
  warn('1');
  for (const message of ['2', '3']) {
    time.advance(4999);
    warn(message);
  }
  expect(lines).toEqual(['1']);
  time.advance(2);
  warn('4');
  expect(lines).toEqual(['1', '4 (and 2 more like it since the last line)']);
});

test('the silence starts again with each line', () => {
  const { time, lines, warn } = started();
  for (const message of ['1', '2', '3']) {
    warn(message);
    warn('left out');
    time.advance(10_000);
  }
  expect(lines).toEqual([
    '1',
    '2 (and 1 more like it since the last line)',
    '3 (and 1 more like it since the last line)',
  ]);
});

test('kinds are silent each for itself', () => {
  const { lines, emit, warn } = started();
  for (let i = 0; i < 3; i++) {
    warn('warning');
    emit(lost('lost'));
  }
  expect(lines).toEqual(['warning', 'lost']);
});

test('a warning of a quota is omitted only after one of the same limit and threshold', () => {
  const { time, lines, emit } = started();
  const reached = (limit: string, threshold: number): void =>
    emit({ type: 'quota-warning', limit, threshold, message: `${limit} ${threshold}` });
  reached('Monthly', 0.5);
  reached('Monthly', 1);
  reached('Daily', 1);
  reached('Monthly', 1);
  expect(lines).toEqual(['Monthly 0.5', 'Monthly 1', 'Daily 1']);
  time.advance(10_000);
  reached('Monthly', 1);
  expect(lines.at(-1)).toBe('Monthly 1 (and 1 more like it since the last line)');
});

test('an event with `once` is never omitted, and does not silence others', () => {
  const { lines, emit, warn } = started();
  warn('1');
  for (const message of ['proxy', 'addresses']) emit({ type: 'warning', message, once: true });
  warn('2');
  expect(lines).toEqual(['1', 'proxy', 'addresses']);
});

describe('a store that fails and recovers repeatedly', () => {
  /** As many outages as told, from beginning to end. */
  function flap(emit: EventSink<EventLine>, outages: number): void {
    for (let i = 1; i <= outages; i++) {
      emit({ type: 'store-failing', message: `down ${i}` });
      emit({ type: 'store-recovered', message: `up ${i}` });
    }
  }

  test('is a line at each change, four times in ten seconds', () => {
    const { lines, emit, endSpan } = started();
    for (let span = 0; span < 3; span++) {
      flap(emit, 2);
      endSpan();
    }
    const ofOneSpan = ['down 1', 'up 1', 'down 2', 'up 2'];
    expect(lines).toEqual([...ofOneSpan, ...ofOneSpan, ...ofOneSpan]);
  });

  test('is then left out until the ten seconds are over, when the latest is written with the count of the others', () => {
    const { lines, emit, endSpan } = started();
    flap(emit, 100);
    expect(lines).toEqual(['down 1', 'up 1', 'down 2', 'up 2']);
    endSpan();
    expect(lines.slice(4)).toEqual(['up 100 (and 195 more changes since the last line)']);
  });

  test('and finally fails for good: that is the last line', () => {
    const { lines, emit, endSpan } = started();
    flap(emit, 2);
    emit({ type: 'store-failing', message: 'down for good' });
    expect(lines.at(-1)).toBe('up 2');
    endSpan();
    endSpan();
    expect(lines.slice(4)).toEqual(['down for good']);
  });

  test('is at most four lines in each ten seconds, the latest of the ten before among them', () => {
    const { lines, emit, endSpan } = started();
    const perSpan: number[] = [];
    for (let span = 0; span < 5; span++) {
      flap(emit, 50);
      perSpan.push(lines.length);
      endSpan();
    }
    expect(perSpan).toEqual([4, 8, 12, 16, 20]);
  });

  test('is at most four lines in any ten seconds, also when they began long before the others', () => {
    const { time, lines, emit } = started();
    emit({ type: 'store-failing', message: 'first' });
    time.advance(9900);
    flap(emit, 50);
    expect(lines).toHaveLength(4);
    time.advance(100);
    expect(lines).toHaveLength(5);
    flap(emit, 50);
    time.advance(9899);
    expect(lines).toHaveLength(5);
    time.advance(1);
    expect(lines.slice(5)).toEqual(['up 50 (and 99 more changes since the last line)']);
  });

  test('is a line after ten seconds at the latest, also when the clock has stepped back', () => {
    const { time, lines, emit } = started();
    flap(emit, 2);
    time.set(-3_600_000);
    flap(emit, 1);
    time.advance(10_000);
    expect(lines.slice(4)).toEqual(['up 1 (and 1 more changes since the last line)']);
  });

  test('does not keep the process alive', () => {
    const timers = (): string[] => process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
    const before = timers();
    flap(
      logged(() => undefined, systemTime),
      10,
    );
    expect(timers()).toEqual(before);
  });
});
