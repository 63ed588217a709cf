import { describe, expect, test } from 'vitest';
import { FakeTime } from '@sluice/core/testing';
import type { ConnectionChange } from '../../src/client/connection-status.ts';
import { StateLog } from '../../src/client/state-log.ts';

const cause = new Error('gone');
const well = { server: 'a:1', lastError: undefined };
const ill = { server: 'a:1', lastError: cause };

function log() {
  const time = new FakeTime();
  const reported: ConnectionChange[] = [];
  return { time, reported, log: new StateLog(time, (change) => reported.push(change)) };
}

describe('the state of the connections', () => {
  test('is reported when it changes, with server and cause, and not when it stays', () => {
    const { reported, log: states } = log();
    states.note('connecting', well);
    states.note('up', well);
    states.note('up', ill);
    states.note('down', ill);
    states.note('down', ill);
    states.note('up', ill);
    expect(reported).toEqual([
      { state: 'up', server: 'a:1', cause: undefined },
      { state: 'down', server: 'a:1', cause },
      { state: 'up', server: 'a:1', cause: undefined },
    ]);
  });

  test('is reported at most four times in ten seconds, and then only if it lasts', () => {
    const { time, reported, log: states } = log();
    for (let i = 0; i < 100; i++) states.note(i % 2 === 0 ? 'up' : 'down', ill);
    expect(reported).toHaveLength(4);
    expect(states.state).toBe('down');
    time.advance(10_000);
    expect(reported).toHaveLength(4);
    states.note('up', ill);
    expect(reported).toHaveLength(5);
  });

  test('is reported later when it has changed for good meanwhile', () => {
    const { time, reported, log: states } = log();
    for (let i = 0; i < 7; i++) states.note(i % 2 === 0 ? 'up' : 'down', ill);
    expect(reported.map(({ state }) => state)).toEqual(['up', 'down', 'up', 'down']);
    time.advance(10_000);
    expect(reported.map(({ state }) => state)).toEqual(['up', 'down', 'up', 'down', 'up']);
  });

  test('keeps the last error and when it came, also when all is well again', () => {
    const { time, log: states } = log();
    const noon = new Date('2026-07-01T12:00:00Z');
    time.setWall(noon.getTime());
    expect(states.lastError).toBeUndefined();
    states.note('down', ill);
    const { lastError } = states;
    expect([lastError, states.since]).toEqual([{ cause, at: noon }, noon]);
    time.advance(1000);
    states.note('up', ill);
    states.note('up', well);
    expect(states.lastError).toBe(lastError);
    expect(states.since).toEqual(new Date('2026-07-01T12:00:01Z'));
  });

  test('is reported at once when the client is closed, and nothing after that', () => {
    const { time, reported, log: states } = log();
    for (let i = 0; i < 7; i++) states.note(i % 2 === 0 ? 'up' : 'down', ill);
    states.close();
    time.advance(20_000);
    expect(reported).toHaveLength(5);
    expect(reported.at(-1)).toEqual({ state: 'closed', server: undefined, cause: undefined });
  });
});
