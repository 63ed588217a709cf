import { describe, expect, test } from 'vitest';
import { FakeTime } from '../../../core/test/support/fake-time.ts';
import type { LineChange } from '../../src/client/connection-status.ts';
import { StateLog } from '../../src/client/state-log.ts';

const cause = new Error('gone');
const well = { server: 'a:1', lastError: undefined };
const ill = { server: 'a:1', lastError: cause };

function log() {
  const time = new FakeTime();
  const told: LineChange[] = [];
  return { time, told, log: new StateLog(time, (change) => told.push(change)) };
}

describe('the state of a line', () => {
  test('is told when it changes, with server and cause, and not when it stays', () => {
    const { told, log: states } = log();
    states.note('connecting', well);
    states.note('up', well);
    states.note('up', ill);
    states.note('down', ill);
    states.note('down', ill);
    states.note('up', ill);
    expect(told).toEqual([
      { state: 'up', server: 'a:1', cause: undefined },
      { state: 'down', server: 'a:1', cause },
      { state: 'up', server: 'a:1', cause: undefined },
    ]);
  });

  test('is told at most four times in ten seconds, and then only if it lasts', async () => {
    const { time, told, log: states } = log();
    for (let i = 0; i < 100; i++) states.note(i % 2 === 0 ? 'up' : 'down', ill);
    expect(told).toHaveLength(4);
    expect(states.state).toBe('down');
    await time.advance(10_000);
    expect(told).toHaveLength(4);
    states.note('up', ill);
    expect(told).toHaveLength(5);
    expect(time.waiting).toBe(0);
  });

  test('is told later when it has changed for good meanwhile', async () => {
    const { time, told, log: states } = log();
    for (let i = 0; i < 7; i++) states.note(i % 2 === 0 ? 'up' : 'down', ill);
    expect(told.map(({ state }) => state)).toEqual(['up', 'down', 'up', 'down']);
    await time.advance(10_000);
    expect(told.map(({ state }) => state)).toEqual(['up', 'down', 'up', 'down', 'up']);
  });

  test('keeps the last error and when it came, also when all is well again', () => {
    const { log: states } = log();
    expect(states.lastError).toBeUndefined();
    states.note('down', ill);
    const { lastError } = states;
    expect(lastError).toEqual({ cause, at: expect.any(Date) });
    states.note('up', ill);
    states.note('up', well);
    expect(states.lastError).toBe(lastError);
  });

  test('is told at once when the line is closed, which leaves no timer', () => {
    const { time, told, log: states } = log();
    for (let i = 0; i < 7; i++) states.note(i % 2 === 0 ? 'up' : 'down', ill);
    states.close();
    expect(told.at(-1)).toEqual({ state: 'closed', server: undefined, cause: undefined });
    expect(time.waiting).toBe(0);
  });
});
