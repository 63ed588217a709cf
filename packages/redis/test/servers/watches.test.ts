import { describe, expect, test } from 'vitest';
import { FakeTime } from '@sluice/core/testing';
import type { ConnectionSocket as Socket } from '../../src/servers/connection.ts';
import { ConnectTimeout, ConnectWatch, SilenceWatch } from '../../src/servers/watches.ts';

/** As much of a socket as a watch looks at. */
function socket(bytesRead = 0): Socket & { bytesRead: number } {
  return { bytesRead } as Socket & { bytesRead: number };
}

function watched<T>(Watch: new (socket: () => Socket | undefined, time: FakeTime, cut: (s: Socket) => void) => T) {
  const time = new FakeTime();
  const on: { socket: Socket | undefined } = { socket: undefined };
  const cut: Socket[] = [];
  const watch = new Watch(
    () => on.socket,
    time,
    (cutSocket) => cut.push(cutSocket),
  );
  return { time, on, cut, watch };
}

describe('the watch over connecting', () => {
  test('cuts a socket that sends nothing for as long as it is allowed to', () => {
    const { time, on, cut, watch } = watched(ConnectWatch);
    watch.start(250);
    on.socket = socket();
    time.advance(250);
    expect(cut).toEqual([]);
    time.advance(100);
    expect(cut).toContain(on.socket);
  });

  test('waits longer for a server that has spoken', () => {
    const { time, on, cut, watch } = watched(ConnectWatch);
    const stream = socket();
    on.socket = stream;
    watch.start(250);
    time.advance(100);
    stream.bytesRead = 7;
    time.advance(950);
    expect(cut).toEqual([]);
    time.advance(200);
    expect(cut).toContain(stream);
  });

  test('takes each byte and each new socket for a sign of life', () => {
    const { time, on, cut, watch } = watched(ConnectWatch);
    watch.start(250);
    for (let attempt = 0; attempt < 10; attempt++) {
      on.socket = socket();
      time.advance(200);
    }
    expect(cut).toEqual([]);
  });

  test('reads what arrived while the process was busy before it cuts', () => {
    const { time, on, cut, watch } = watched(ConnectWatch);
    const stream = socket();
    on.socket = stream;
    watch.start(250);
    time.endOfTurn(() => (stream.bytesRead = 1));
    time.set(time.nowMs + 5000);
    time.advance(0);
    expect(cut).toEqual([]);
  });

  test('does not cut while there is no socket, and leaves no timer when it is stopped', () => {
    const { time, cut, watch } = watched(ConnectWatch);
    watch.start(250);
    time.advance(1000);
    expect(cut).toEqual([]);
    watch.stop();
    expect(time.pending).toBe(0);
  });

  test('can be stopped by its callback', () => {
    const time = new FakeTime();
    const on = socket();
    const watch: ConnectWatch = new ConnectWatch(
      () => on,
      time,
      () => watch.stop(),
    );
    watch.start(250);
    time.advance(1000);
    expect(time.pending).toBe(0);
  });
});

describe('the watch over silence', () => {
  test('cuts a socket through which nothing came for 100 ms after a missed deadline', () => {
    const { time, on, cut, watch } = watched(SilenceWatch);
    on.socket = socket(5);
    watch.start();
    time.advance(99);
    watch.start();
    expect(cut).toEqual([]);
    time.advance(1);
    expect(cut).toEqual([on.socket]);
    expect(time.pending).toBe(0);
  });

  test('leaves a slow server in peace: one byte is enough', () => {
    const { time, on, cut, watch } = watched(SilenceWatch);
    const stream = socket(5);
    on.socket = stream;
    watch.start();
    time.advance(50);
    stream.bytesRead = 6;
    time.advance(1000);
    expect(cut).toEqual([]);
    watch.start();
    time.advance(100);
    expect(cut).toEqual([stream]);
  });

  test('reads what arrived while the process was busy before it cuts', () => {
    const { time, on, cut, watch } = watched(SilenceWatch);
    const stream = socket(5);
    on.socket = stream;
    watch.start();
    time.endOfTurn(() => (stream.bytesRead = 6));
    time.set(time.nowMs + 5000);
    time.advance(0);
    expect(cut).toEqual([]);
  });

  test('does not cut the socket that came after', () => {
    const { time, on, cut, watch } = watched(SilenceWatch);
    on.socket = socket();
    watch.start();
    on.socket = socket();
    time.advance(1000);
    expect(cut).toEqual([]);
  });

  test('has nothing to watch before the first socket, and leaves no timer when it is stopped', () => {
    const { time, on, watch } = watched(SilenceWatch);
    watch.start();
    expect(time.pending).toBe(0);
    on.socket = socket();
    watch.start();
    watch.stop();
    expect(time.pending).toBe(0);
  });
});

test('three attempts to connect are short and the fourth is long, until one leads to a server', () => {
  const connectTimeout = new ConnectTimeout();
  const next = (): number => {
    connectTimeout.next();
    return connectTimeout.ms;
  };
  expect([next(), next(), next(), next(), next()]).toEqual([250, 250, 250, 1000, 250]);
  connectTimeout.reset();
  expect([next(), next(), next(), next()]).toEqual([250, 250, 250, 1000]);
});

test('a failed attempt counts until a connection is open', () => {
  const connectTimeout = new ConnectTimeout();
  expect(connectTimeout.hasFailed).toBe(false);
  connectTimeout.noteFailure();
  connectTimeout.next();
  expect(connectTimeout.hasFailed).toBe(true);
  connectTimeout.reset();
  expect(connectTimeout.hasFailed).toBe(false);
});
