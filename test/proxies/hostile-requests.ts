import type { Leaving } from '../service/raw-request.ts';

/** A request by which a client tries to avoid a limit. */
export interface HostileRequest {
  readonly name: string;
  readonly bytes: Buffer;
  readonly leaving: Leaving;
}

/** The parts of a request that a hostile client chooses. */
interface Parts {
  readonly target?: string;
  readonly version?: string;
  readonly host?: string;
  readonly fields?: readonly string[];
  readonly body?: string;
}

/** @param method - The limit that is used up applies to it. */
export function hostileRequests(method: string): readonly HostileRequest[] {
  const head = ({ target = '/', version = 'HTTP/1.1', host = 'x', fields = [], body = '' }: Parts): Buffer => {
    const own = [`Host: ${host}`, 'Connection: close', ...fields];
    const text = `${method} ${target} ${version}\r\n${own.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
    return Buffer.from(text, 'latin1');
  };
  const waits = ([name, parts]: readonly [string, Parts]): HostileRequest => ({
    name,
    bytes: head(parts),
    leaving: 'waits',
  });
  const plain = head({});
  return [
    ...[...MANY_FIELDS, ...LARGE, ...CONTROLS, ...NAMED, ...TARGETS, ...HOSTS, ...BODIES].map((each) => waits(each)),
    { name: 'HTTP/0.9', bytes: Buffer.from(`${method} /\r\n`), leaving: 'ends' },
    { name: 'HTTP/1.0 without a host', bytes: Buffer.from(`${method} / HTTP/1.0\r\n\r\n`), leaving: 'waits' },
    { name: 'two requests at once', bytes: Buffer.concat([plain, plain]), leaving: 'waits' },
    { name: 'half a head', bytes: plain.subarray(0, -6), leaving: 'ends' },
    { name: 'half a head, then a reset', bytes: plain.subarray(0, -6), leaving: 'resets' },
    { name: 'a head, then the end', bytes: plain, leaving: 'ends' },
    { name: 'a head, then a reset', bytes: plain, leaving: 'resets' },
    { name: 'half a body, then the end', bytes: head({ fields: ['Content-Length: 9'], body: 'abc' }), leaving: 'ends' },
    {
      name: 'half a body, then a reset',
      bytes: head({ fields: ['Content-Length: 9'], body: 'ab' }),
      leaving: 'resets',
    },
  ];
}

const fields = (count: number, value = ''): readonly string[] =>
  Array.from({ length: count }, (_, i) => `x-f${i}: ${value}`);

/** HAProxy keeps 101 lines and Node 1,000; the proxies add some. */
const MANY_FIELDS = [
  60, 88, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 500, 990, 995, 998, 1000, 1100, 3000,
].map((count) => [`${count} fields`, { fields: fields(count) }] as const);

const LARGE = [
  13_000, 14_000, 14_500, 14_800, 15_000, 15_200, 15_360, 16_384, 17_000, 33_000, 70_000, 1_040_000,
].flatMap(
  (size) =>
    [
      [`one field of ${size} bytes`, { fields: [`x-large: ${'a'.repeat(size)}`] }],
      [`fields of ${size} bytes together`, { fields: fields(Math.ceil(size / 1000), 'a'.repeat(990)) }],
      [`a target of ${size} bytes`, { target: `/?${'a'.repeat(size)}` }],
      [`a host of ${size} bytes`, { host: 'a'.repeat(size) }],
      [`an account of ${size} bytes`, { fields: [`X-Account-Id: ${'a'.repeat(size)}`] }],
    ] as const,
);

const CONTROLS = [
  '\0',
  '\u0001',
  '\b',
  '\t',
  '\v',
  '\f',
  '\u001B',
  '\u007F',
  '\r',
  '\n',
  '\r\n ',
  '\u0080',
  '\u00FF',
  '\u00C3(',
].flatMap((character) => {
  const name = JSON.stringify(character);
  return [
    [`${name} in a value`, { fields: [`x-a: a${character}b`] }],
    [`${name} in a name`, { fields: [`x${character}a: b`] }],
    [`${name} in the target`, { target: `/a${character}b` }],
    [`${name} in the host`, { host: `a${character}b` }],
    [`${name} in the account`, { fields: [`X-Account-Id: a${character}b`] }],
    [`${name} in X-Forwarded-For`, { fields: [`X-Forwarded-For: a${character}b`] }],
  ] as const;
});

/** Fields that change what a proxy makes of the others. */
const NAMED = [
  ...['X-Forwarded-For', 'X-Forwarded-Uri', 'X-Forwarded-Method', 'X-Forwarded-Host', 'X-Account-Id', 'Host'].flatMap(
    (name) => [
      [`Connection names ${name}`, { fields: [`Connection: ${name}`] }] as const,
      [`${name} twice`, { fields: [`${name}: GET`, `${name}: GET`] }] as const,
      [`${name} empty`, { fields: [`${name}:`] }] as const,
      [`${name} with _`, { fields: [`${name.replaceAll('-', '_')}: GET`] }] as const,
      [`a space after ${name}`, { fields: [`${name} : GET`] }] as const,
    ],
  ),
  ['an empty name', { fields: [': a'] }] as const,
  ['a line without a colon', { fields: ['nonsense'] }] as const,
  ['a folded line', { fields: ['x-a: a', ' folded'] }] as const,
  ['X-HTTP-Method-Override', { fields: ['X-HTTP-Method-Override: GET'] }] as const,
  ['an upgrade', { fields: ['Connection: Upgrade', 'Upgrade: websocket'] }] as const,
  [
    'an upgrade to h2c',
    { fields: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAM'] },
  ] as const,
  ['another Expect', { fields: ['Expect: 200-ok'] }] as const,
  ['X-Accel-Redirect', { fields: ['X-Accel-Redirect: @backend'] }] as const,
  ['trailers', { fields: ['TE: trailers', 'Trailer: X-Account-Id'] }] as const,
];

const TARGETS = [
  ['%00', '/%00'],
  ['half an escape', '/%'],
  ['a wrong escape', '/%zz'],
  ['an escape that is not UTF-8', '/%ff%fe'],
  ['a URL', 'http://x/'],
  ['a URL of another host', 'http://other:99/'],
  ['a fragment', '/#/'],
  ['*', '*'],
  ['an authority', 'x:80'],
  ['no slash', 'a'],
  ['braces', '/{http.request.host}?{http.error.status_code}'],
  ['variables', '/$request_method%[var(txn.sluice_failed)]'],
  ['the path of the check', '/check/nginx'],
].map(([name, target]) => [`a target with ${name}`, { target: target! }] as const);

const HOSTS = ['', 'a b', 'a:b', '[::1', 'a/b', 'a@b', '{host}', 'x, x'].map(
  (host) => [`the host '${host}'`, { host }] as const,
);

const BODIES = [
  ['a length that is no number', { fields: ['Content-Length: a'] }],
  ['two lengths', { fields: ['Content-Length: 0', 'Content-Length: 3'], body: 'abc' }],
  ['a length below 0', { fields: ['Content-Length: -1'] }],
  ['a length and chunks', { fields: ['Content-Length: 3', 'Transfer-Encoding: chunked'], body: '0\r\n\r\n' }],
  ['an unknown encoding', { fields: ['Transfer-Encoding: x'] }],
  ['chunked twice', { fields: ['Transfer-Encoding: chunked, chunked'], body: '0\r\n\r\n' }],
  ['a chunk that is no number', { fields: ['Transfer-Encoding: chunked'], body: 'xyz\r\n' }],
  ['chunks that end early', { fields: ['Transfer-Encoding: chunked'], body: '5\r\nab\r\n0\r\n\r\n' }],
  ['a trailer', { fields: ['Transfer-Encoding: chunked'], body: '0\r\nX-Forwarded-Method: GET\r\n\r\n' }],
  ['an expectation', { fields: ['Expect: 100-continue', 'Content-Length: 3'], body: 'abc' }],
] as const satisfies readonly (readonly [string, Parts])[];
