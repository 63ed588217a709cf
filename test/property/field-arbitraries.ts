import fc from 'fast-check';

const number = fc.oneof(
  fc.integer({ min: -5, max: 200 }).map(String),
  fc.double({ min: 0, max: 1000, noNaN: true }).map((double) => double.toFixed(3)),
  fc.constantFrom('0', '1', '-0', '9007199254740993', `1${'0'.repeat(30)}`, `-1${'0'.repeat(30)}`, '9'.repeat(400)),
  fc.constantFrom('NaN', 'Infinity', '-Infinity', '1e9', '0x10', '1_000', '', ' ', 'null', 'undefined'),
);
const NOW_MS = Date.UTC(2026, 10, 29, 12);
const instant = fc.oneof(
  fc.integer({ min: -100_000, max: 100_000 }).map((ms) => NOW_MS + ms),
  fc.integer({ min: 0, max: 4_102_444_800_000 }),
);
const date = fc.oneof(
  instant.map((ms) => new Date(ms).toUTCString()),
  instant.map((ms) => new Date(ms).toISOString()),
  fc.constantFrom('Thu, 31 Feb 2027 25:61:61 GMT', '2026-13-45T12:00:00Z', 'Sun Nov  6 08:49:37 1994'),
);
const wait = fc.oneof(
  number,
  date,
  instant.map((ms) => String(Math.floor(ms / 1000))),
  instant.map(String),
  fc.constantFrom('6m0s', '120ms', '2m52.8s', '1d', '999999999h', '1s1s1s', '6m0', 's', '1.s'),
);
const junk = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '"',
    '"\\',
    ';;;;',
    ',,,,',
    '=;=,=',
    '"a";r',
    '"a";r=1;r=0;t=',
    '\u0000',
    'é',
    '🦥',
    '"a";r="0"',
    '[]',
    '{}',
  ),
);

const name = fc.constantFrom('a', 'b', 'requests', 'tokens', 'x;r=0', 'a\\"b');
const member = fc
  .tuple(name, fc.constantFrom('r', 'a', 'q'), number, fc.constantFrom('t', 'w', 'x'), wait)
  .map(([of, left, amount, until, time]) => `"${of}";${left}=${amount};${until}=${time}`);
const policy = fc.constantFrom('"a";q=10;w=1', '"a";q=9;qu="content-bytes"', '"b";qu="concurrent-requests"', '10;w=1');
const list = (of: fc.Arbitrary<string>) => fc.array(of, { maxLength: 4 }).map((parts) => parts.join(', '));
const dictionary = fc.tuple(number, wait).map(([left, time]) => `limit=9, remaining=${left}, reset=${time}`);

const PREFIXES = ['ratelimit', 'x-ratelimit', 'x-rate-limit'];
const FIGURES = [
  ...PREFIXES.map((prefix) => [`${prefix}-remaining`, `${prefix}-reset`, `${prefix}-limit`] as const),
  ...['requests', 'tokens'].map(
    (of) => [`x-ratelimit-remaining-${of}`, `x-ratelimit-reset-${of}`, `x-ratelimit-limit-${of}`] as const,
  ),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((of) => {
    const prefix = `anthropic-ratelimit-${of}`;
    return [`${prefix}-remaining`, `${prefix}-reset`, `${prefix}-limit`] as const;
  }),
];

const figures = fc
  .tuple(fc.constantFrom(...FIGURES), number, wait, number)
  .map(([[left, reset, limit], amount, time, most]) => ({ [left]: amount, [reset]: time, [limit]: most }));
const single = fc.oneof(
  fc.oneof(list(member), dictionary, junk).map((text) => ({ ratelimit: text })),
  list(policy).map((text) => ({ 'ratelimit-policy': text })),
  fc.oneof(wait, junk).map((text) => ({ 'retry-after': text })),
  number.map((text) => ({ 'retry-after-ms': text })),
  wait.map((text) => ({ 'x-ratelimit-reset-after': text })),
  fc.oneof(date, junk).map((text) => ({ date: text })),
  fc.constantFrom({ age: '0' }, { age: '5' }, { 'x-github-request-id': 'C0FF:EE' }),
);

/** Some of the values are many lines, or megabytes: they are repeated when they are read. */
const repeated = fc.constantFrom(1, 1, 1, 1, 1, 1, 2, 1000);

/** For each dialect, and each limit in it, the field with what is left. */
export const DIALECTS: readonly string[] = ['ratelimit', ...FIGURES.map(([remaining]) => remaining)];

/** The fields of an answer: of any dialect, contradictory, past, huge or no sense at all. */
export const anyFields = fc
  .tuple(fc.array(fc.oneof(figures, single), { maxLength: 5 }), repeated)
  .map(([parts, lines]) => {
    const fields: Readonly<Record<string, string>> = Object.assign({}, ...parts) as Record<string, string>;
    return {
      get: (field: string) => {
        const text = fields[field];
        return text === undefined || lines === 1 ? text : Array.from({ length: lines }, () => text);
      },
      lines,
      texts: fields,
      toString: () => `${lines} × ${JSON.stringify(fields)}`,
    };
  });

export const anyStatus = fc.constantFrom(200, 200, 204, 301, 403, 404, 429, 429, 500, 503, 529);
