import { END_HEADERS, END_STREAM, frame, TYPE } from '../http2-frames.ts';

/** What the proxy in front writes after the fields of its client. */
const BY_PROXY = [
  ['x-forwarded-for', '203.0.113.9'],
  ['x-account', 'ann'],
] as const;

const PROXY_LINES = BY_PROXY.map(([name, value]) => `${name}: ${value}\r\n`).join('');

/** A head of HTTP/1.1 with lines of a client, and those of the proxy last. */
function head(lines: string, start = 'GET / HTTP/1.1', body = ''): Buffer {
  return Buffer.from(`${start}\r\nHost: x\r\nConnection: close\r\n${lines}${PROXY_LINES}\r\n${body}`, 'latin1');
}

const long = (bytes: number): string => `x-long: ${'x'.repeat(bytes)}\r\n`;
const CONTROLS = ['\0', '\u0001', '\b', '\t', '\v', '\f', '\u001b', '\u007f', '\u0080', '\u00ff', '\r', '\n', '\r\n '];
const PATHS = [
  '%',
  '%zz',
  '%00',
  '%ff',
  '%c0%af',
  '%e2%28',
  '\u00ff',
  '\u0001',
  '..%2f',
  '?a=%ff',
  '#',
  '\\',
  ' ',
  '//',
];
const FORWARDED = [
  '',
  ',',
  ',,,,',
  'unknown',
  '203.0.113.9 198.51.100.7',
  '\u00ff',
  `${'198.51.100.7, '.repeat(900)}x`,
];
const METHODS = ['HEAD', 'OPTIONS', 'PUT', 'TRACE', 'CONNECT', 'get', 'QUERY', 'G\u0001T', 'POST'];

const shown = (text: string): string => JSON.stringify(text.slice(0, 20));
const byText = (texts: readonly string[], make: (text: string) => Buffer, what: string): [string, Buffer][] =>
  texts.map((text) => [`${what} ${shown(text)}`, make(text)]);

/** The name of a head that is not hostile. The first one passes. */
export const ORDINARY = 'an ordinary head';

/** Heads of HTTP/1.1 by which a client may try to get past a limit that is used up. */
export const HOSTILE_HEADS: Readonly<Record<string, Buffer>> = Object.fromEntries([
  [ORDINARY, head('')],
  ...[90, 98, 990, 995, 996, 997, 998, 1000, 1100, 1900, 2000, 2100].map((count) => [
    `${count} fields`,
    head('a:\r\n'.repeat(count)),
  ]),
  ...[15_000, 16_000, 17_000, 33_000, 70_000].map((bytes) => [`a head of ${bytes} bytes`, head(long(bytes))]),
  ...[15_000, 17_000, 33_000].map((bytes) => [
    `a head of ${bytes} bytes in many fields`,
    head(long(50).repeat(bytes / 60)),
  ]),
  ['a target of 15 kB', head('', `GET /?${'x'.repeat(15_000)} HTTP/1.1`)],
  ...byText(CONTROLS, (text) => head(`x-text: a${text}b\r\n`), 'a value with'),
  ...byText(CONTROLS, (text) => head(`x-na${text}me: a\r\n`), 'a name with'),
  ...byText(CONTROLS, (text) => head(`x-forwarded-for: 198.51.100.7${text}\r\n`), 'an address with'),
  ...byText(PATHS, (text) => head('', `GET /${text} HTTP/1.1`), 'a path with'),
  ...byText(FORWARDED, (text) => head(`x-forwarded-for: ${text}\r\n`), 'addresses that are'),
  ...byText(METHODS, (text) => head('', `${text} / HTTP/1.1`), 'the method'),
  ['HTTP/1.0', head('', 'GET / HTTP/1.0')],
  ['HTTP/0.9', head('', 'GET /')],
  ['HTTP/2.0 as a version', head('', 'GET / HTTP/2.0')],
  ['a whole URL as target', head('', 'GET http://127.0.0.1/ HTTP/1.1')],
  ['an asterisk as target', head('', 'OPTIONS * HTTP/1.1')],
  ['a request that expects to be told to continue', head('expect: 100-continue\r\n')],
  ['a request that expects something else', head('expect: tea\r\n')],
  ['a request for an upgrade', head('upgrade: websocket\r\nconnection: upgrade\r\n')],
  ['a request for an upgrade to HTTP/2', head('upgrade: h2c\r\nconnection: upgrade, http2-settings\r\n')],
  ['a request that says that its lines go from hop to hop', head('connection: x-forwarded-for, x-account\r\n')],
  ['two lengths', head('content-length: 1\r\ncontent-length: 2\r\n', 'POST / HTTP/1.1', 'xx')],
  ['a length and chunks', head('content-length: 1\r\ntransfer-encoding: chunked\r\n', 'POST / HTTP/1.1', '0\r\n\r\n')],
  ['a chunk that is none', head('transfer-encoding: chunked\r\n', 'POST / HTTP/1.1', 'zz\r\n\r\n')],
  [
    'a trailer with an address',
    head('transfer-encoding: chunked\r\n', 'POST / HTTP/1.1', '0\r\nx-forwarded-for: 198.51.100.7\r\n\r\n'),
  ],
  ['a second request after the first', Buffer.concat([head(''), head('')])],
  ['an empty line before the request', Buffer.concat([Buffer.from('\r\n\r\n'), head('')])],
  ['the preface of HTTP/2', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')],
  ['bytes of TLS', Buffer.from([22, 3, 1, 0, 5, 1, 0, 0, 1, 0])],
]);

type Field = readonly [name: string, value: string];

const GET: readonly Field[] = [
  [':method', 'GET'],
  [':path', '/'],
  [':scheme', 'http'],
  [':authority', 'x'],
];

/** A length of HPACK (RFC 7541 section 5.1), with a prefix of 7 bits. */
function lengthOf(bytes: Buffer): Buffer {
  if (bytes.length < 127) return Buffer.from([bytes.length]);
  const digits = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest >>= 7) digits.push((rest & 127) | 128);
  return Buffer.from([...digits, rest]);
}

/** The fields of a client, and those of the proxy last, in frames of at most 16 kB. */
function stream(own: readonly Field[], start = GET): Buffer {
  const block = Buffer.concat(
    [...start, ...own, ...BY_PROXY].flatMap(([name, value]) => {
      const texts = [Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1')];
      return [Buffer.from([0]), ...texts.flatMap((text) => [lengthOf(text), text])];
    }),
  );
  const parts = Array.from({ length: Math.ceil(block.length / 16_384) }, (_, i) =>
    block.subarray(i * 16_384, (i + 1) * 16_384),
  );
  return Buffer.concat(
    parts.map((part, i) => {
      const flags = i === parts.length - 1 ? END_HEADERS : 0;
      return i === 0 ? frame(TYPE.headers, flags | END_STREAM, 1, part) : frame(TYPE.continuation, flags, 1, part);
    }),
  );
}

const many = (count: number, value = ''): Field[] => Array.from({ length: count }, (_, i) => [`a${i}`, value]);
const withStart = (changed: Readonly<Record<string, string>>): readonly Field[] =>
  GET.map(([name, value]) => [name, changed[name] ?? value]);

/** The same over HTTP/2, as frames. */
export const HOSTILE_STREAMS: Readonly<Record<string, Buffer>> = Object.fromEntries([
  [ORDINARY, stream([])],
  ...[90, 121, 122, 123, 124, 130, 1100].map((count) => [`${count} fields`, stream(many(count))]),
  ...[15_000, 17_000, 33_000, 70_000].map((bytes) => [`a head of ${bytes} bytes`, stream([['x', 'x'.repeat(bytes)]])]),
  ...byText(CONTROLS, (text) => stream([['x-text', `a${text}b`]]), 'a value with'),
  ...byText(CONTROLS, (text) => stream([[`x-na${text}me`, 'a']]), 'a name with'),
  ...byText(CONTROLS, (text) => stream([['x-forwarded-for', `198.51.100.7${text}`]]), 'an address with'),
  ...byText(PATHS, (text) => stream([], withStart({ ':path': `/${text}` })), 'a path with'),
  ...byText(FORWARDED, (text) => stream([['x-forwarded-for', text]]), 'addresses that are'),
  ...byText(METHODS, (text) => stream([], withStart({ ':method': text })), 'the method'),
  ['no pseudo-field', stream([], [])],
  [
    'no path',
    stream(
      [],
      GET.filter(([name]) => name !== ':path'),
    ),
  ],
  ['two paths', stream([], [...GET, [':path', '/']])],
  [
    'a pseudo-field after others',
    stream([
      ['a', 'b'],
      [':path', '/'],
    ]),
  ],
  ['a pseudo-field of a response', stream([[':status', '200']])],
  ['a field of a connection', stream([['connection', 'close']])],
  ['a name in upper case', stream([['X-Text', 'a']])],
  ['an empty name', stream([['', 'a']])],
  ['a length of a body that does not come', stream([['content-length', '10']])],
  ['the protocol of an extended CONNECT', stream([[':protocol', 'websocket']], withStart({ ':method': 'CONNECT' }))],
]);
