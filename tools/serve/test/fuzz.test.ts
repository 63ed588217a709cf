import fc from 'fast-check';
import { connect, constants } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import { GrpcError } from '../src/grpc/grpc-error.ts';
import { MalformedMessage } from '../src/protobuf/reader.ts';
import { readRequest } from '../src/rls/request.ts';
import { SHOULD_RATE_LIMIT } from '../src/rls/should-rate-limit.ts';
import { descriptor, envoyOf } from '../../../test/service/envoy.ts';
import { bytesField, call, frame, text, varint } from '../../../test/service/raw-call.ts';
import { served } from '../../../test/service/served.ts';

const RUNS = Number(process.env['SLUICE_RLS_REQUESTS'] ?? 5000);

/** A message without the head of its frame. */
function read(message: Uint8Array): unknown {
  return readRequest(Buffer.concat([Buffer.alloc(5), message]));
}

const entry = bytesField(1, [...bytesField(1, text('user')), ...bytesField(2, text('ada'))]);
const MESSAGE = [...bytesField(1, text('ingress')), ...bytesField(2, entry)];
const DECODED = {
  domain: 'ingress',
  descriptors: [{ entries: [{ key: 'user', value: 'ada' }], hits: 1, isNegative: false }],
};

test('random bytes are a request or a coded error, never a crash', { timeout: 3_600_000 }, () => {
  const outcomes = new Set<string>();
  const isHandled = (bytes: Uint8Array): void => {
    try {
      read(bytes);
      outcomes.add('read');
    } catch (error) {
      if (!(error instanceof GrpcError || error instanceof MalformedMessage)) throw error;
      outcomes.add(error.constructor.name);
    }
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), isHandled), { numRuns: RUNS });
  const damaged = fc.tuple(fc.nat(MESSAGE.length - 1), fc.nat(255), fc.nat(MESSAGE.length));
  const damage = ([at, byte, end]: [number, number, number]): void => {
    const bytes = Uint8Array.from(MESSAGE.slice(0, end));
    if (at < end) bytes[at] = byte;
    isHandled(bytes);
  };
  fc.assert(fc.property(damaged, damage), { numRuns: RUNS });
  expect(outcomes).toEqual(new Set(['read', 'GrpcError', 'MalformedMessage']));
});

test('unknown fields of every wire type are skipped, wherever they stand', () => {
  const unknown = [
    [...varint(15 * 8), ...varint(2 ** 40)],
    [...varint(200 * 8 + 1), 1, 2, 3, 4, 5, 6, 7, 8],
    bytesField(77, text('anything')),
    [...varint(9 * 8 + 5), 1, 2, 3, 4],
    [...varint(9 * 8 + 3), ...varint(9 * 8 + 3), ...bytesField(1, [1]), ...varint(9 * 8 + 4), ...varint(9 * 8 + 4)],
    [...varint(3 * 8 + 1), 1, 2, 3, 4, 5, 6, 7, 8],
  ];
  for (const field of unknown) {
    const inEntry = bytesField(1, [...field, ...bytesField(1, text('user')), ...field, ...bytesField(2, text('ada'))]);
    const inside = bytesField(2, [...field, ...inEntry, ...field]);
    const all = [...field, ...bytesField(1, text('ingress')), ...field, ...inside, ...field];
    expect(read(Uint8Array.from(all))).toEqual(DECODED);
  }
});

test('a number of ten bytes is never read as a smaller one, and one of eleven is rejected', () => {
  const ten = [0x85, ...Array.from({ length: 8 }, () => 0x80), 0x01];
  const hits = (number: readonly number[]) => read(Uint8Array.from([...MESSAGE, 3 * 8, ...number]));
  const read63 = hits(ten) as typeof DECODED;
  expect(read63.descriptors[0]!.hits).toBe(2 ** 63);
  for (const number of [2 ** 32, 2 ** 53, 2 ** 62]) {
    expect(hits(varint(number))).toMatchObject({ descriptors: [{ hits: number }] });
  }
  expect(() => hits([0x85, ...Array.from({ length: 9 }, () => 0x80), 0x01])).toThrow(MalformedMessage);
});

test('a message that ends too early is rejected at every byte', () => {
  for (let end = 1; end < MESSAGE.length; end++) {
    if (end === bytesField(1, text('ingress')).length) continue;
    expect(() => read(Uint8Array.from(MESSAGE.slice(0, end)))).toThrow(/the message|a field|must have/);
  }
});

async function opened() {
  const all = await served(
    'A: { count: 9, period: 1h, idFormat: by }',
    'envoy: { ingress: { rules: [{ descriptor: [user], limit: A }] } }',
  );
  const session = connect(`http://127.0.0.1:${all.servers.ports.grpc}`);
  onTestFinished(() => session.destroy());
  return { ...all, session };
}

test('frames that are wrong end their call with a status, and the next call is answered', async () => {
  const { session, servers } = await opened();
  const statusOf = async (body: Uint8Array, headers = {}) => (await call(session, body, headers)).status;
  expect(await statusOf(frame(MESSAGE))).toBe('0');
  expect(await statusOf(frame(MESSAGE, 1))).toBe('12');
  expect(await statusOf(frame(MESSAGE), { 'grpc-encoding': 'gzip' })).toBe('12');
  expect(await statusOf(frame(MESSAGE), { ':path': '/other' })).toBe('12');
  expect(await statusOf(new Uint8Array())).toBe('13');
  expect(await statusOf(frame(MESSAGE).subarray(0, 3))).toBe('13');
  expect(await statusOf(frame(MESSAGE, 0, 1000))).toBe('13');
  expect(await statusOf(Buffer.concat([frame(MESSAGE), frame(MESSAGE)]))).toBe('13');
  expect(await statusOf(frame([0x0a, 0x7f]))).toBe('3');
  expect((await call(session, frame(MESSAGE), { 'content-type': 'text/plain' })).httpStatus).toBe(415);
  const health = { ':path': '/grpc.health.v1.Health/Check' };
  expect(await statusOf(frame(MESSAGE, 0, 2 ** 31), health)).toBe('8');
  expect(await statusOf(Buffer.alloc(400_000), health)).toBe('8');
  const again = envoyOf(servers.ports.grpc);
  expect((await again.ask({ domain: 'ingress', descriptors: [descriptor({ user: 'ada' })] })).overall_code).toBe('OK');
});

test('callers that reset their calls at any moment leave nothing behind', async () => {
  const { session } = await opened();
  for (let i = 0; i < 50; i++) {
    const stream = session.request({
      ':method': 'POST',
      ':path': SHOULD_RATE_LIMIT,
      'content-type': 'application/grpc',
    });
    stream.on('error', () => undefined);
    if (i % 2 === 0) stream.write(frame(MESSAGE).subarray(0, i % 10));
    else stream.end(frame(MESSAGE));
    stream.close(constants.NGHTTP2_CANCEL);
  }
  expect((await call(session, frame(MESSAGE))).status).toBe('0');
});
