import type { LimiterEvent } from '@sluice/core';
import { FakeClock } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { logged } from '../src/log.ts';

function started() {
  const clock = new FakeClock(0);
  const lines: string[] = [];
  const notify = logged((line) => lines.push(line), clock);
  const warn = (message: string): void => notify({ type: 'warning', message });
  return { clock, lines, notify, warn };
}

const lost = (message: string): LimiterEvent => ({ type: 'charge-lost', count: 1, cause: null, message });

test('the first event of a kind is a line at once', () => {
  const { lines, notify, warn } = started();
  warn('look here');
  notify(lost('one charge is lost'));
  expect(lines).toEqual(['look here', 'one charge is lost']);
});

test('those of the next ten seconds are left out, and counted in the next line', () => {
  const { clock, lines, warn } = started();
  warn('1');
  for (const message of ['2', '3']) {
    clock.advance(4999);
    warn(message);
  }
  expect(lines).toEqual(['1']);
  clock.advance(2);
  warn('4');
  expect(lines).toEqual(['1', '4 (and 2 more like it since the last line)']);
});

test('the silence starts again with each line', () => {
  const { clock, lines, warn } = started();
  for (const message of ['1', '2', '3']) {
    warn(message);
    warn('left out');
    clock.advance(10_000);
  }
  expect(lines).toEqual([
    '1',
    '2 (and 1 more like it since the last line)',
    '3 (and 1 more like it since the last line)',
  ]);
});

test('kinds are silent each for itself', () => {
  const { lines, notify, warn } = started();
  for (let i = 0; i < 3; i++) {
    warn('warning');
    notify(lost('lost'));
  }
  expect(lines).toEqual(['warning', 'lost']);
});

test('a change of the store’s state is always a line', () => {
  const { lines, notify } = started();
  for (let i = 0; i < 2; i++) {
    notify({ type: 'store-failing', message: 'down' });
    notify({ type: 'store-recovered', message: 'up' });
  }
  expect(lines).toEqual(['down', 'up', 'down', 'up']);
});

test('it has a clock of its own unless one is given', () => {
  const lines: string[] = [];
  const notify = logged((line) => lines.push(line));
  for (const message of ['1', '2']) notify({ type: 'warning', message });
  expect(lines).toEqual(['1']);
});
