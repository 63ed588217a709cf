import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { FakeTime } from '../../../core/test/support/fake-time.ts';
import { ConnectWatch } from '../../src/ioredis/connect-watch.ts';
import { Patience } from '../../src/ioredis/connect-timeout.ts';
import { SilenceWatch } from '../../src/ioredis/silence-watch.ts';

/** As much of a socket as a watch looks at. */
function socket(bytesRead = 0): Socket & { bytesRead: number } {
  return { bytesRead } as Socket & { bytesRead: number };
}

function watched<T>(Watch: new (on: { stream: Socket | undefined }, time: FakeTime, cut: (s: Socket) => void) => T) {
  const time = new FakeTime();
  const on: { stream: Socket | undefined } = { stream: undefined };
  const cut: Socket[] = [];
  const watch = new Watch(on, time, (stream) => cut.push(stream));
  return { time, on, cut, watch };
}

describe('the watch over connecting', () => {
  test('cuts a socket that says nothing for as long as it is allowed to', async () => {
    const { time, on, cut, watch } = watched(ConnectWatch);
    watch.start(250);
    on.stream = socket();
    await time.advance(250);
    expect(cut).toEqual([]);
    await time.advance(100);
    expect(cut).toContain(on.stream);
  });

  test('waits longer for a server that has spoken', async () => {
    const { time, on, cut, watch } = watched(ConnectWatch);
    const stream = socket();
    on.stream = stream;
    watch.start(250);
    await time.advance(100);
    stream.bytesRead = 7;
    await time.advance(950);
    expect(cut).toEqual([]);
    await time.advance(200);
    expect(cut).toContain(stream);
  });

  test('takes each byte and each new socket for a sign of life', async () => {
    const { time, on, cut, watch } = watched(ConnectWatch);
    watch.start(250);
    for (let attempt = 0; attempt < 10; attempt++) {
      on.stream = socket();
      await time.advance(200);
    }
    expect(cut).toEqual([]);
  });

  test('hears what arrived while the process was busy before it judges', async () => {
    const { time, on, cut, watch } = watched(ConnectWatch);
    const stream = socket();
    on.stream = stream;
    watch.start(250);
    time.arrives(() => (stream.bytesRead = 1));
    await time.stall(5000);
    expect(cut).toEqual([]);
  });

  test('does not cut while there is no socket, and leaves no timer when it is stopped', async () => {
    const { time, cut, watch } = watched(ConnectWatch);
    watch.start(250);
    await time.advance(1000);
    expect(cut).toEqual([]);
    watch.stop();
    expect(time.waiting).toBe(0);
  });

  test('can be stopped by whom it tells', async () => {
    const time = new FakeTime();
    const watch: ConnectWatch = new ConnectWatch({ stream: socket() }, time, () => watch.stop());
    watch.start(250);
    await time.advance(1000);
    expect(time.waiting).toBe(0);
  });
});

describe('the watch over silence', () => {
  test('cuts a socket through which nothing came for 100 ms after a missed deadline', async () => {
    const { time, on, cut, watch } = watched(SilenceWatch);
    on.stream = socket(5);
    watch.missed();
    await time.advance(99);
    watch.missed();
    expect(cut).toEqual([]);
    await time.advance(1);
    expect(cut).toEqual([on.stream]);
    expect(time.waiting).toBe(0);
  });

  test('leaves a slow server in peace: one byte is enough', async () => {
    const { time, on, cut, watch } = watched(SilenceWatch);
    const stream = socket(5);
    on.stream = stream;
    watch.missed();
    await time.advance(50);
    stream.bytesRead = 6;
    await time.advance(1000);
    expect(cut).toEqual([]);
    watch.missed();
    await time.advance(100);
    expect(cut).toEqual([stream]);
  });

  test('hears what arrived while the process was busy before it judges', async () => {
    const { time, on, cut, watch } = watched(SilenceWatch);
    const stream = socket(5);
    on.stream = stream;
    watch.missed();
    time.arrives(() => (stream.bytesRead = 6));
    await time.stall(5000);
    expect(cut).toEqual([]);
  });

  test('does not cut the socket that came after', async () => {
    const { time, on, cut, watch } = watched(SilenceWatch);
    on.stream = socket();
    watch.missed();
    on.stream = socket();
    await time.advance(1000);
    expect(cut).toEqual([]);
  });

  test('has nothing to watch before the first socket, and leaves no timer when it is stopped', () => {
    const { time, on, watch } = watched(SilenceWatch);
    watch.missed();
    expect(time.waiting).toBe(0);
    on.stream = socket();
    watch.missed();
    watch.stop();
    expect(time.waiting).toBe(0);
  });
});

test('three attempts to connect are quick and the fourth is patient, until one leads to a server', () => {
  const patience = new Patience();
  const next = (): number => {
    patience.next();
    return patience.ms;
  };
  expect([next(), next(), next(), next(), next()]).toEqual([250, 250, 250, 1000, 250]);
  patience.reset();
  expect([next(), next(), next(), next()]).toEqual([250, 250, 250, 1000]);
});
