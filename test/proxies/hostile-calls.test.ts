import { connect, constants } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import { bytesField, call, frame, text, varint } from '../service/raw-call.ts';
import { served } from '../service/served.ts';

const LIMITS = 'PerClient: { burst: 3, count: 3, period: 24h, idFormat: by }';
const TABLES = 'envoy: { ingress: { rules: [{ descriptor: [remote_address], limit: PerClient }] } }';

/** The codes of RateLimitResponse, behind the head of the frame and the tag of the first field. */
const CODES = ['', 'OK', 'OVER_LIMIT'];
const CODE_AT = 6;

const entry = (key: string, value: readonly number[]): number[] =>
  bytesField(1, [...bytesField(1, text(key)), ...bytesField(2, value)]);
const descriptor = (...entries: readonly number[][]): number[] => bytesField(2, entries.flat());
const DOMAIN = bytesField(1, text('ingress'));
const CLIENT = descriptor(entry('remote_address', text('203.0.113.7')));
const letters = (count: number): number[] => Array.from({ length: count }, () => 97);
/** A descriptor of something else that the client writes, such as its path. */
const beside = (value: readonly number[]): number[] => [...DOMAIN, ...descriptor(entry('path', value)), ...CLIENT];

/** The code of the answer to a message; its status of gRPC if there is none. */
type CodeOf = (message: readonly number[], headers?: Readonly<Record<string, string>>) => Promise<string>;

/** A service whose limit is used up for one client. */
async function usedUp(): Promise<{ readonly codeOf: CodeOf; readonly port: number }> {
  const { servers } = await served(LIMITS, TABLES);
  const port = servers.ports.grpc!;
  const session = connect(`http://127.0.0.1:${port}`, { maxSendHeaderBlockLength: 1_000_000 });
  onTestFinished(() => session.destroy());
  const codeOf: CodeOf = async (message, headers) => {
    const { status, answer } = await call(session, frame(message), headers);
    return answer.length === 0 ? `status ${status}` : CODES[answer[CODE_AT]!]!;
  };
  for (let i = 0; i < 3; i++) expect(await codeOf([...DOMAIN, ...CLIENT])).toBe('OK');
  return { codeOf, port };
}

const MESSAGES: readonly (readonly [what: string, message: readonly number[]])[] = [
  ...[15_000, 17_000, 33_000, 65_536, 240_000].map(
    (size) => [`a value of ${size} bytes`, beside(letters(size))] as const,
  ),
  ['a message of more than 256 KiB', beside(letters(270_000))],
  ['a message of 2 MiB', beside(letters(2_097_152))],
  ['65 descriptors', [...DOMAIN, ...Array.from({ length: 65 }, () => CLIENT).flat()]],
  ['1,100 descriptors', [...DOMAIN, ...Array.from({ length: 1100 }, () => CLIENT).flat()]],
  ['65 entries', [...DOMAIN, ...descriptor(...Array.from({ length: 65 }, () => entry('a', text('b')))), ...CLIENT]],
  ['bytes that are not UTF-8', beside([0xff, 0xfe, 0xc3, 0x28])],
  ['control characters', beside([0, 1, 8, 9, 10, 13, 27, 127])],
  ['unknown fields', [...bytesField(77, letters(99)), ...beside(letters(9))]],
];

test.each(MESSAGES)('a limit that is used up is not avoided by %s', async (_what, message) => {
  const { codeOf } = await usedUp();
  expect(await codeOf(message)).toBe('OVER_LIMIT');
  expect(await codeOf([...DOMAIN, ...CLIENT])).toBe('OVER_LIMIT');
});

const fields = (count: number, bytes: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-f${i}`, 'a'.repeat(bytes)]));

test.each([
  ['of 15,000 bytes', fields(1, 15_000)],
  ['of 33,000 bytes', fields(1, 33_000)],
  ['of 70,000 bytes', fields(7, 10_000)],
  ['of 110,000 bytes', fields(11, 10_000)],
  ['with 120 fields', fields(120, 1)],
  ['with 1,100 fields', fields(1100, 1)],
])(
  'a limit that is used up is not avoided by a head %s, such as by the trace that Envoy passes on',
  async (_what, headers) => {
    const { codeOf } = await usedUp();
    expect(await codeOf([...DOMAIN, ...CLIENT], headers)).toBe('OVER_LIMIT');
  },
);

const TEN_BYTES = Array.from({ length: 9 }, () => 0x80);

test.each([
  ['2^32', varint(2 ** 32)],
  ['2^53', varint(2 ** 53)],
  ['2^64 - 1', [...Array.from({ length: 9 }, () => 0xff), 1]],
  ['2^63', [...TEN_BYTES, 1]],
  ['more than 64 bits', [...TEN_BYTES, 2]],
])('an addend of %s, of a request or of a descriptor, is above every burst, and never 0', async (_what, number) => {
  const { codeOf } = await usedUp();
  const address = entry('remote_address', text('198.51.100.1'));
  expect(await codeOf([...DOMAIN, ...bytesField(2, address), 3 * 8, ...number])).toBe('OVER_LIMIT');
  expect(await codeOf([...DOMAIN, ...bytesField(2, [...address, ...bytesField(3, [8, ...number])])])).toBe(
    'OVER_LIMIT',
  );
});

test('callers that leave at any moment take nothing, and the service answers the next', async () => {
  const { codeOf, port } = await usedUp();
  const body = frame([...DOMAIN, ...descriptor(entry('remote_address', text('198.51.100.2')))]);
  for (let end = 0; end < body.length; end++) {
    const other = connect(`http://127.0.0.1:${port}`);
    other.on('error', () => undefined);
    const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
    const stream = other.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
    stream.on('error', () => undefined);
    stream.write(body.subarray(0, end));
    if (end % 3 === 0) stream.close(constants.NGHTTP2_CANCEL);
    else if (end % 3 === 1) stream.end();
    stream.on('close', () => other.destroy());
    if (end % 3 === 2) other.destroy();
  }
  expect(await codeOf([...DOMAIN, ...CLIENT])).toBe('OVER_LIMIT');
  const untouched = [...DOMAIN, ...descriptor(entry('remote_address', text('198.51.100.2')))];
  for (let i = 0; i < 3; i++) expect(await codeOf(untouched)).toBe('OK');
  expect(await codeOf(untouched)).toBe('OVER_LIMIT');
});
