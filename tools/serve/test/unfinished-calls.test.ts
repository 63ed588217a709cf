import { once } from 'node:events';
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import { call, frame } from '../../../test/service/raw-call.ts';
import { served } from '../../../test/service/served.ts';

const LIMITS = 'PerClient: { count: 1, period: 1s, idFormat: clientNetwork }';
const TABLES = 'envoy: { ingress: { rules: [{ descriptor: [remote_address], limit: PerClient }] } }';
/** A message of which a byte is missing. */
const UNFINISHED = frame([1, 2, 3], 0, 4);

async function session() {
  const { servers, time } = await served(LIMITS, TABLES);
  const opened = connect(`http://127.0.0.1:${servers.ports.grpc}`);
  onTestFinished(() => opened.destroy());
  return { session: opened, time };
}

/** Begins a call that does not end. */
function begin(opened: ClientHttp2Session): ClientHttp2Stream {
  const stream = opened.request({
    ':method': 'POST',
    ':path': '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
    'content-type': 'application/grpc',
  });
  stream.on('error', () => undefined).write(UNFINISHED);
  return stream;
}

test('a call whose message does not end is ended after a minute, and others on its connection go through', async () => {
  const { session: opened, time } = await session();
  const stream = begin(opened);
  const ended = once(stream, 'response');
  // Answered after the service has seen the call before it.
  await call(opened, frame([]));
  time.advance(59_999);
  stream.write(UNFINISHED);
  await call(opened, frame([]));
  expect([stream.closed, stream.sentTrailers]).toEqual([false, undefined]);
  time.advance(1);
  const [fields] = (await ended) as [Record<string, unknown>];
  expect([fields[':status'], fields['grpc-status']]).toEqual([200, '4']);
  await once(stream, 'close');
  expect((await call(opened, frame([]))).httpStatus).toBe(200);
});

test('a call whose client has left is waited for no longer', async () => {
  const { session: opened, time } = await session();
  const before = time.pending;
  const stream = begin(opened);
  await call(opened, frame([]));
  expect(time.pending).toBe(before + 1);
  stream.close();
  await once(stream, 'close');
  await call(opened, frame([]));
  expect(time.pending).toBe(before);
});
