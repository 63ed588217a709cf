import type { ShedMessage } from '@sluice/core/load';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadFrom } from '../../../src/kinds/load/sources.ts';
import { used } from './sampled.ts';

/** A limit that has shed three requests, the first at the returned level. */
function shedding() {
  let signal = 1;
  const source = loadFrom(() => signal, { enabled: () => signal >= 0 });
  const user = used(source);
  user.time.advance(20_000);
  const { level } = source;
  for (let i = 0; i < 3; i++) expect(user.use.sheds('a', 1)).toBe(true);
  const setSignal = (value: number): number => (signal = value);
  return { ...user, source, level, setSignal };
}

function messagesOf(): ShedMessage[] {
  const messages: ShedMessage[] = [];
  const add = (message: unknown): void => void messages.push(message as ShedMessage);
  subscribe('sluice:shed', add);
  onTestFinished(() => void unsubscribe('sluice:shed', add));
  return messages;
}

describe('the events of shedding', () => {
  test('are one for the first request that is shed, and one when the level is 0 again', () => {
    const { events, time, level, use, setSignal } = shedding();
    const began = { type: 'shedding-began', limit: 'Worker', level };
    expect(events).toMatchObject([began]);
    setSignal(0);
    time.advance(30_000);
    use.sheds('a', 0.1);
    expect(events).toHaveLength(1);
    time.advance(40_000);
    expect(events).toMatchObject([began, { type: 'shedding-ended', limit: 'Worker', count: 4 }]);
    expect(events.map(({ message }) => message)).toEqual([
      'Limit "Worker" sheds requests, the least important first: this process has been too busy for some seconds. ' +
        'Look for slow requests, or add processes. To shed nothing, let `enabled` of its load return false, or disable the limit.',
      'Limit "Worker" sheds no more requests. It shed 4 in 61 s.',
    ]);
    time.advance(60_000);
    expect(events).toHaveLength(2);
  });

  test('begin anew with the next load', () => {
    const { events, time, use, setSignal } = shedding();
    setSignal(0);
    time.advance(70_000);
    setSignal(1);
    time.advance(20_000);
    use.sheds('a', 1);
    setSignal(0);
    time.advance(70_000);
    expect(events.map(({ type }) => type)).toEqual([
      'shedding-began',
      'shedding-ended',
      'shedding-began',
      'shedding-ended',
    ]);
    expect(events[3]).toMatchObject({ count: 1 });
  });

  test('are not emitted while the level is high and no request is shed', () => {
    const source = loadFrom(() => 1);
    const { events, time } = used(source);
    time.advance(20_000);
    expect(source.level).toBe(1);
    expect(events).toEqual([]);
  });

  test('end with the kill switch', () => {
    const { events, time, setSignal } = shedding();
    setSignal(-1);
    time.advance(250);
    expect(events).toMatchObject([{ type: 'shedding-began' }, { type: 'shedding-ended', count: 3, durationMs: 250 }]);
  });

  test('end when the limit is removed', () => {
    const { events, use } = shedding();
    use.stop();
    expect(events).toMatchObject([{ type: 'shedding-began' }, { type: 'shedding-ended', count: 3, durationMs: 0 }]);
    use.stop();
    expect(events).toHaveLength(2);
  });

  test('are of each limit that uses the load', () => {
    const { source, time, events, setSignal } = shedding();
    const other = used(source, { limit: 'Other', time });
    other.use.sheds('b', 1);
    setSignal(0);
    time.advance(70_000);
    expect([events[1], other.events[1]]).toMatchObject([
      { limit: 'Worker', count: 3 },
      { limit: 'Other', count: 1 },
    ]);
  });
});

test('the channel `sluice:shed` gets a message when shedding begins, and one when it ends', () => {
  const messages = messagesOf();
  const { time, level, setSignal } = shedding();
  setSignal(0);
  time.advance(70_000);
  expect(messages).toEqual([
    { limit: 'Worker', state: 'shedding', level },
    { limit: 'Worker', state: 'calm', level: 0, durationMs: expect.any(Number), count: 3 },
  ]);
});
