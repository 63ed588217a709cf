import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { ExchangeEnd } from '../../src/http/exchange.ts';
import { onceOver, type NodeResponse } from '../../src/http/node-response.ts';

/** A response over HTTP/2 whose stream emits nothing when it closes, as Node's own in some resets. */
function silentResponse() {
  const stream = Object.assign(new EventEmitter(), {
    closed: false,
    destroyed: false,
    aborted: false,
    writableFinished: false,
  });
  const response = Object.assign(new EventEmitter(), { req: { httpVersionMajor: 2 }, stream });
  const ends: ExchangeEnd[] = [];
  const wait = (): void => onceOver(undefined, response as unknown as NodeResponse, (end) => ends.push(end));
  return { stream, ends, wait };
}

test('a stream that closes without an event was aborted, for each callback once; another one stays open', async () => {
  const [silent, other] = [silentResponse(), silentResponse()];
  other.wait();
  silent.wait();
  silent.wait();
  silent.stream.closed = true;
  await expect.poll(() => silent.ends).toEqual(['aborted', 'aborted']);
  silent.stream.emit('close');
  expect(silent.stream.listenerCount('close')).toBe(0);
  expect(silent.ends.length).toBe(2);
  expect(other.ends).toEqual([]);
  other.stream.closed = true;
  await expect.poll(() => other.ends).toEqual(['aborted']);
});

test('a stream that had closed before has never begun', () => {
  const { stream, ends, wait } = silentResponse();
  stream.closed = true;
  wait();
  expect(ends).toEqual(['never-begun']);
});

test('a stream that has finished is not looked at any more', async () => {
  const [finished, last] = [silentResponse(), silentResponse()];
  finished.wait();
  finished.stream.writableFinished = true;
  finished.stream.emit('finish');
  finished.stream.closed = true;
  last.wait();
  last.stream.closed = true;
  await expect.poll(() => last.ends).toEqual(['aborted']);
  expect(finished.ends).toEqual(['finished']);
});
