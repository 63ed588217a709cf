import { describe, expect, test } from 'vitest';
import { FakeTime } from '../../../core/test/support/fake-time.ts';
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

  test('is reported at most four times in ten seconds, and then only if it lasts', async () => {
    const { time, reported, log: states } = log();
    for (let i = 0; i < 100; i++) states.note(i % 2 === 0 ? 'up' : 'down', ill);
    expect(reported).toHaveLength(4);
    expect(states.state).toBe('down');
    await time.advance(10_000);
    expect(reported).toHaveLength(4);
    states.note('up', ill);
    expect(reported).toHaveLength(5);
    expect(time.waiting).toBe(0);
  });

  test('is reported later when it has changed for good meanwhile', async () => {
    const { time, reported, log: states } = log();
    for (let i = 0; i < 7; i++) states.note(i % 2 === 0 ? 'up' : 'down', ill);
    expect(reported.map(({ state }) => state)).toEqual(['up', 'down', 'up', 'down']);
    await time.advance(10_000);
    expect(reported.map(({ state }) => state)).toEqual(['up', 'down', 'up', 'down', 'up']);
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

  test('is reported at once when the client is closed, which leaves no timer', () => {
    const { time, reported, log: states } = log();
    for (let i = 0; i < 7; i++) states.note(i % 2 === 0 ? 'up' : 'down', ill);
    states.close();
    expect(reported.at(-1)).toEqual({ state: 'closed', server: undefined, cause: undefined });
    expect(time.waiting).toBe(0);
  });
});
