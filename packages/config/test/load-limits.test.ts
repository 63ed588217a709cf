import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { accountId, clientNetwork, createLimiter, ipAddress, keyFrom, type Override } from '@sluice/core';
import { checkLimits, loadLimits } from '@sluice/config';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rejected } from '../../core/test/support/thrown.ts';
import { uninspectable } from '../../core/test/support/uninspectable.ts';
import { dataNode, type Node } from '../src/nodes/node.ts';
import { Problems } from '../src/nodes/problems.ts';
import { overrideRows } from '../src/shape/overrides-shape.ts';
import { readFunction } from '../src/sources/source.ts';
import { KEYS, LIMITS, written } from './written-files.ts';

const BOULDER_LIMITS = `NewRegistrationsPerIPAddress:
  burst: 20
  count: 20
  period: 1s
NewOrdersPerAccount:
  burst: 300
  count: 300
  period: 180m
`;

const BOULDER_OVERRIDES = `- NewOrdersPerAccount:
    burst: 300
    count: 600
    period: 180m
    ids:
      - 12345678
      - id: 87654321
        comment: agreed with their ops, ticket 4711
`;

const BOULDER_KEYS = { NewRegistrationsPerIPAddress: ipAddress(), NewOrdersPerAccount: accountId() };

/** The numbers that hold for an id, as loaded limits say. */
async function numbersOf(files: Parameters<typeof written>[0], limit: string, id: string) {
  const { defaults, overrides } = written(files);
  const loaded = await loadLimits({ defaults, ...(files.overrides !== undefined && { overrides }), keys: KEYS });
  const limiter = createLimiter({ ...loaded });
  const [result] = (await limiter.check([{ limit, id }])).results;
  return result === undefined ? 'unlimited' : { burst: result.burst, count: result.count, periodMs: result.periodMs };
}

it('the files of Let’s Encrypt work as they stand', async () => {
  const { defaults, overrides } = written({ limits: BOULDER_LIMITS, overrides: BOULDER_OVERRIDES });
  const limiter = createLimiter({ ...(await loadLimits({ defaults, overrides, keys: BOULDER_KEYS })) });
  const countOf = async (id: string): Promise<number | undefined> =>
    (await limiter.check([{ limit: 'NewOrdersPerAccount', id }])).results[0]?.count;
  expect(await Promise.all(['12345678', '87654321', '1'].map(countOf))).toEqual([600, 600, 300]);
});

it('what is loaded spreads into exactly what createLimiter takes, and knows its version besides', async () => {
  const { defaults, overrides } = written({ overrides: '[]' });
  const loaded = await loadLimits({ defaults: pathToFileURL(defaults), overrides, keys: KEYS });
  expect(Object.keys(loaded)).toEqual(['limits', 'overrides']);
  expect(loaded.version).toMatch(/^[0-9a-f]{16}$/);
  expect(Date.now() - loaded.loadedAt.getTime()).toBeLessThan(60_000);
  const again = await loadLimits({ defaults, overrides, keys: KEYS });
  expect(again.version).toBe(loaded.version);
  writeFileSync(overrides, '[ ]');
  expect((await loadLimits({ defaults, overrides, keys: KEYS })).version).not.toBe(loaded.version);
});

describe('overrides', () => {
  const overrides = `
- NewRegistrationsPerIPAddress: { count: 1, period: 1s, ids: [10.0.0.0/8] }
- NewRegistrationsPerIPAddress: { count: 2, period: 1s, ids: [10.20.0.0/16] }
- NewRegistrationsPerIPAddress: { unlimited: true, ids: [10.20.30.40] }
`;

  it.each([
    ['203.0.113.7', { burst: 20, count: 20, periodMs: 1000 }],
    ['10.1.1.1', { burst: 1, count: 1, periodMs: 1000 }],
    ['10.20.1.1', { burst: 2, count: 2, periodMs: 1000 }],
    ['10.20.30.40', 'unlimited'],
  ])('hold for networks, the longest prefix first, and an id of its own before all: %s', async (id, numbers) => {
    expect(await numbersOf({ overrides }, 'NewRegistrationsPerIPAddress', id)).toEqual(numbers);
  });

  it.each(['012345', '12345678901234567890', '0x1F', '1e3', '1_000', 'yes', '2026-01-01', '-5'])(
    'keep the text of an id as it is written: %s',
    async (id) => {
      const text = `- NewOrdersPerAccount: { count: 7, period: 1s, ids: [ ${id} ] }\n`;
      expect(await numbersOf({ overrides: text }, 'NewOrdersPerAccount', id)).toMatchObject({ count: 7 });
    },
  );
});

it('a limit that is switched off says nothing about anyone', async () => {
  const limits = LIMITS.replace('burst: 300', 'disabled: true, burst: 300');
  expect(await numbersOf({ limits }, 'NewOrdersPerAccount', '1')).toBe('unlimited');
});

it('a limit that is hidden is so in the limiter too', async () => {
  const { defaults } = written({ limits: LIMITS.replace('burst: 300', 'hidden: true, burst: 300') });
  const limiter = createLimiter({ ...(await loadLimits({ defaults, keys: KEYS })) });
  const { results } = await limiter.check([
    { limit: 'NewOrdersPerAccount', id: '1' },
    { limit: 'NewRegistrationsPerIPAddress', id: '203.0.113.7' },
  ]);
  expect(results.map(({ hidden }) => hidden)).toEqual([true, false]);
});

it('an id and a network that are blocked are refused, but for an id of its own numbers in it', async () => {
  const { defaults, overrides } = written({
    overrides: `
- NewRegistrationsPerIPAddress: { blocked: true, ids: [10.0.0.0/8, 203.0.113.7] }
- NewRegistrationsPerIPAddress: { count: 2, period: 1s, ids: [10.1.1.1] }
`,
  });
  const limiter = createLimiter({ ...(await loadLimits({ defaults, overrides, keys: KEYS })) });
  const blocked = ['10.1.1.2', '203.0.113.7', '10.1.1.1', '203.0.113.8'].map(
    async (id) => (await limiter.check([{ limit: 'NewRegistrationsPerIPAddress', id }])).blocked,
  );
  expect(await Promise.all(blocked)).toEqual([true, true, false, false]);
});

it('a key may come with the failure policy of its limit', async () => {
  const { defaults } = written({});
  const keys = { ...KEYS, NewOrdersPerAccount: { key: accountId(), onFailure: 'closed' as const } };
  const { limits } = await loadLimits({ defaults, keys });
  expect(limits['NewOrdersPerAccount']).toMatchObject({ onFailure: 'closed' });
  expect(limits['NewRegistrationsPerIPAddress']).not.toHaveProperty('onFailure');
});

describe('a function in the place of a file', () => {
  const override: { [limit: string]: Override & { ids: unknown[] } }[] = [
    { NewOrdersPerAccount: { count: 600, period: '180m', ids: [12345678, 87654321n, { id: 'a', comment: 'x' }] } },
  ];

  it.each([
    ['text', LIMITS],
    ['bytes', Buffer.from(LIMITS)],
    ['data', { NewOrdersPerAccount: { count: 1, period: '1s', idFormat: 'accountId', disabled: false } }],
  ])('gives %s', async (_, given) => {
    const names = typeof given === 'string' || Buffer.isBuffer(given) ? Object.keys(KEYS) : ['NewOrdersPerAccount'];
    const keys = Object.fromEntries(Object.entries(KEYS).filter(([name]) => names.includes(name)));
    const loaded = await loadLimits({ defaults: () => given, overrides: async () => override, keys });
    expect(loaded.overrides.rateOf('NewOrdersPerAccount', '87654321')).toMatchObject({ count: 600 });
    expect(Object.keys(loaded.limits)).toEqual(names);
  });

  it('may leave a field open: what is undefined is not there', async () => {
    const loaded = await loadLimits({
      defaults: () => ({ A: { burst: undefined, count: 1, period: '1s', idFormat: undefined }, B: undefined }),
      overrides: () => [{ A: { burst: undefined, unlimited: undefined, count: 2, period: '1s', ids: ['x'] } }],
      keys: { A: accountId() },
    });
    expect(loaded.limits['A']).toEqual({ key: expect.anything(), count: 1, period: '1s' });
    expect(loaded.overrides.rateOf('A', 'x')).toMatchObject({ burst: 2 });
  });

  it('lets others have their turn between any two ids of a slow format', async () => {
    let turns = 0;
    const count = (): void => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const canonical = (text: string): string => {
      for (const startMs = performance.now(); performance.now() - startMs < 5;);
      return text;
    };
    const ids = Array.from({ length: 30 }, (_, i) => i);
    await loadLimits({
      defaults: () => ({ A: { count: 1, period: '1s' } }),
      overrides: () => [{ A: { unlimited: true, ids } }],
      keys: { A: keyFrom({ name: 'slow', canonical }) },
    });
    clearImmediate(timer);
    expect(turns).toBeGreaterThanOrEqual(ids.length);
  });

  it('lets others have their turn while nothing of it is right', () => {
    const rowsIn = (data: unknown): number => {
      // oxlint-disable-next-line require-yield -- What is read of data is its root alone.
      const reading = (function* (): Generator<never, Node> {
        return dataNode(data);
      })();
      return [...overrideRows(reading, new Problems())].length;
    };
    const wrong = Array.from({ length: 1024 }, (_, i) => i + 0.5);
    expect(rowsIn([{ A: { unlimited: true, ids: wrong } }])).toBe(5);
    expect(rowsIn(wrong)).toBe(1024);
    expect(rowsIn(wrong.map(() => ({})))).toBe(1024);
    expect(rowsIn(wrong.map((name) => ({ [name]: {} })))).toBe(1024);
  });

  it('keeps the bytes that it gave', async () => {
    const bytes = Uint8Array.from(Buffer.from(`${LIMITS}${'# a large text\n'.repeat(1000)}`));
    await loadLimits({ defaults: () => bytes, keys: KEYS });
    expect(bytes.length).toBeGreaterThan(10_000);
  });

  it('has a version that changes with its data', async () => {
    const versionOf = async (id: number): Promise<string> =>
      (
        await loadLimits({
          defaults: () => LIMITS,
          overrides: () => [{ NewOrdersPerAccount: { unlimited: true, ids: [id] } }],
          keys: KEYS,
        })
      ).version;
    expect(await versionOf(1)).toBe(await versionOf(1));
    expect(await versionOf(2)).not.toBe(await versionOf(1));
  });

  it('is told the path of what is wrong in data, and line and column of what is wrong in text', async () => {
    const ids = [1, 2 ** 60, 0.5, Number.NaN, undefined, new Date(0), Symbol('s')];
    const call = () =>
      loadLimits({
        defaults: () => ({ ...JSON.parse(JSON.stringify({ 'a b': {} })), NewOrdersPerAccount: { count: 0 } }),
        overrides: () => [{ NewOrdersPerAccount: { count: 600, period: 60_000, ids } }, new Map()],
        keys: { NewOrdersPerAccount: accountId() },
      });
    expect((await rejected(call)).message.split('\n').slice(1)).toMatchInlineSnapshot(`
      [
        "defaults:["a b"]: \`name of a limit\` must be a letter followed by letters, digits, \`_\`, \`.\` or \`-\`, at most 64 characters, but was 'a b'. Clients see the name in header fields. For example OrdersPerAccount.",
        "defaults:NewOrdersPerAccount.count: \`NewOrdersPerAccount.count\` must be a whole number from 1 to 1000000000, but was 0. To allow no bursts use burst: 1; for no limit leave the limit out.",
        "defaults:NewOrdersPerAccount: \`NewOrdersPerAccount.period\` must be a duration from 1ms to 366 days, but was undefined. For example 1s, 180m, 1h30m or 7d.",
        "overrides:[0].NewOrdersPerAccount.period: \`NewOrdersPerAccount.period\` must be a duration with its unit, but was 60000. Write 60000s for seconds, 60000ms for milliseconds.",
        "overrides:[0].NewOrdersPerAccount.ids[1]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was 1152921504606847000. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[2]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was 0.5. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[3]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was NaN. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[4]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was empty. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[5]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was 1970-01-01T00:00:00.000Z. Quote it, if that is the id.",
        "overrides:[0].NewOrdersPerAccount.ids[6]: \`NewOrdersPerAccount.ids[]\` must be text or a number, but was Symbol(s). Quote it, if that is the id.",
        "overrides:[1]: \`override\` must be a mapping of a limit to its fields, but was Map(0) {}. For example \`- NewOrders: { count: 600, period: 180m, ids: [12345678] }\`.",
      ]
    `);
    const text = () => loadLimits({ defaults: () => 'A: 1\n', keys: {} });
    expect((await rejected(text)).message).toContain('\ndefaults:1:1: The limit `A` has no key in code');
  });

  it('is told what it threw, gave of no use, or too much of', async () => {
    const load = async (defaults: () => unknown) =>
      (await rejected(() => loadLimits({ defaults, keys: {}, maxBytes: 10 }))).message.split('\n')[1];
    expect(await load(() => Promise.reject(new TypeError('no database')))).toBe(
      'defaults: The function threw TypeError: no database.',
    );
    expect(
      await load(() => {
        // oxlint-disable-next-line no-throw-literal -- What a library may do.
        throw 'text';
      }),
    ).toBe("defaults: The function threw 'text'.");
    expect(await load(() => Promise.reject(uninspectable()))).toBe('defaults: The function threw {}.');
    expect(await load(() => undefined)).toMatch(/^defaults: The limits file is empty\./);
    expect(await load(() => [])).toMatch(
      /^defaults: The limits file must be a mapping of limits by name, but was a list/,
    );
    expect(await load(() => 'x'.repeat(11))).toBe(
      'defaults: The text is larger than 10 bytes. Make it smaller, or raise maxBytes.',
    );
  });
});

it('a function that never answers is given up', async () => {
  const content = readFunction(() => new Promise(() => {}), { maxBytes: 1, timeMs: 1 });
  expect(await content).toEqual({ rejected: 'The function did not answer within 1 ms.' });
});

it('a function that has answered leaves no timer behind', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  await readFunction(() => 'text', { maxBytes: 4, timeMs: 60_000 });
  await readFunction(() => Promise.reject(new Error('no database')), { maxBytes: 4, timeMs: 60_000 });
  expect(vi.getTimerCount()).toBe(0);
});

describe('wrong options are refused:', () => {
  it.each([
    [
      { defaults: '' },
      "`defaults` must be the path of a file, a file: URL, or a function that returns text or data, but was ''. For example defaults: 'limits.yaml'.",
    ],
    [
      { defaults: 'a\0b' },
      "`defaults` must be the path of a file, a file: URL, or a function that returns text or data, but was 'a\\x00b'. For example defaults: 'limits.yaml'.",
    ],
    [
      { overrides: new URL('https://example.com/') },
      "`overrides` must be the path of a file, a file: URL, or a function that returns text or data, but was 'https://example.com/'. For example overrides: 'overrides.yaml'.",
    ],
    [
      { maxBytes: 0 },
      '`maxBytes` must be a whole number from 1 to 67108864, but was 0. For example maxBytes: 16_777_216; the default is 2_097_152.',
    ],
    [
      { keys: undefined },
      '`keys` must be an object of keys by limit, but was undefined. For example keys: { NewOrders: accountId((req) => req.user?.id ?? null) }.',
    ],
    [
      { keys: null },
      '`keys` must be an object of keys by limit, but was null. For example keys: { NewOrders: accountId((req) => req.user?.id ?? null) }.',
    ],
    [
      { keys: [] },
      '`keys` must be an object of keys by limit, but was []. For example keys: { NewOrders: accountId((req) => req.user?.id ?? null) }.',
    ],
    [
      { keys: { A: ipAddress } },
      "`keys.A` must be a key, but was [Function: ipAddress]. For example ipAddress(), or { key: ipAddress(), onFailure: 'closed' }.",
    ],
    [
      { keys: { A: null } },
      "`keys.A` must be a key, but was null. For example ipAddress(), or { key: ipAddress(), onFailure: 'closed' }.",
    ],
    [
      { keys: { A: { key: ipAddress(), onFail: 'closed' } } },
      "`keys.A` has no option `onFail` (its value was 'closed'). Did you mean `onFailure`? Options: key, onFailure.",
    ],
    [
      { file: 'x' },
      "`loadLimits` has no option `file` (its value was 'x'). Options: defaults, overrides, maxBytes, keys.",
    ],
  ])('%o', async (options, message) => {
    const call = () => loadLimits({ defaults: 'limits.yaml', keys: {}, ...options } as never);
    expect((await rejected(call)).message).toBe(message);
  });
});

describe('without code', () => {
  const LIMITS_OF_FORMATS = `
PerAddress: { count: 1, period: 1s, idFormat: ipAddress }
PerAccount: { count: 1, period: 1s, idFormat: regId }
PerClientAndAccount: { count: 1, period: 1s, idFormat: "clientNetwork:regId" }
PerAccountOrClient: { count: 1, period: 1s, idFormat: accountId|clientNetwork }
PerColor: { count: 1, period: 1s, idFormat: color }
PerShade: { count: 1, period: 1s, idFormat: shade }
PerBoth: { count: 1, period: 1s, idFormat: "color:shade" }
Unsaid: { count: 1, period: 1s }
`;
  const color = { name: 'color', canonical: (text: string) => text.toLowerCase() };

  it('files are checked by the formats that they name', async () => {
    const ids = Object.entries({
      PerAddress: ['10.0.0.0/8', 'x'],
      PerAccount: ['x'],
      PerClientAndAccount: ['203.0.113.7:x', 'x'],
      PerAccountOrClient: ['x', 'clientNetwork:x'],
      PerColor: ['Red', 'red'],
      PerShade: ['x'],
      Unsaid: ['x'],
    }).map(([limit, texts]) => `- ${limit}: { unlimited: true, ids: ${JSON.stringify(texts)} }\n`);
    const { dir, defaults, overrides } = written({ limits: LIMITS_OF_FORMATS, overrides: ids.join('') });
    const problems = await checkLimits({ defaults, overrides, formats: [color, clientNetwork()] });
    expect(problems.map(({ text }) => text.replace(`${dir}/`, ''))).toMatchInlineSnapshot(`
      [
        "limits.yaml:7:45: \`PerShade.idFormat\` must be a known id format, but was 'shade'. Formats: accountId, clientNetwork, ipAddress, ipv6RangeCIDR, color. For others, use the option \`formats\`.",
        "limits.yaml:8:44: \`PerBoth.idFormat\` must be a known id format, but was 'color:shade'. Formats: accountId, clientNetwork, ipAddress, ipv6RangeCIDR, color. For others, use the option \`formats\`.",
        "overrides.yaml:1:53: \`overrides.PerAddress\` lists the id 'x': \`id\` must be an IPv4 or IPv6 address, such as '203.0.113.7' or '2001:db8::1', but was 'x'. Write an address alone, without host name, port, brackets or mask: '203.0.113.7'.",
        "overrides.yaml:3:65: \`overrides.PerClientAndAccount\` lists the id 'x': \`id\` must be an id of clientNetwork:accountId: 2 parts separated by \`:\`, but was 'x'. Write <clientNetwork>:<accountId>, with %3A for a \`:\` in any part but the last.",
        "overrides.yaml:4:52: \`overrides.PerAccountOrClient\` lists the id 'clientNetwork:x': \`id\` must be an IPv4 address, or an IPv6 network with the mask /48, but was 'x'. Write an IPv4 address such as '203.0.113.7', or an IPv6 network such as '2001:db8:7::/48'.",
        "overrides.yaml:5:44: \`PerColor\` lists the id 'red' twice, first at 5:38. Keep one of the two.",
        "overrides.yaml:7:3: \`Unsaid\` needs an idFormat, by which its ids are checked without code. For example idFormat: accountId.",
      ]
    `);
    expect(problems[0]).toEqual({
      file: defaults,
      line: 7,
      column: 45,
      limit: 'PerShade',
      message: expect.any(String),
      text: expect.stringMatching(/^\//),
    });
  });

  it.each([
    [
      'of formats that can’t stand together',
      'accountId|clientNetwork|clientNetwork',
      '`.or` needs fallbacks of different formats, but clientNetwork is used already. Get both ids in one function instead: (req) => req.user?.id ?? req.apiKey ?? null.',
    ],
    [
      'of more than eight parts',
      Array(9).fill('accountId').join(':'),
      'Formats: accountId, clientNetwork, ipAddress, ipv6RangeCIDR. For others, use the option `formats`.',
    ],
  ])('a format %s is a problem at its place', async (_, idFormat, reason) => {
    const limits = `A: { count: 1, period: 1s, idFormat: "${idFormat}" }\n`;
    const ids = Array.from({ length: 2000 }, (__, i) => `accountId:${i}`);
    const { dir, defaults, overrides } = written({
      limits,
      overrides: JSON.stringify([{ A: { unlimited: true, ids } }]),
    });
    const shown = idFormat.length > 80 ? `${idFormat.slice(0, 80)}…` : idFormat;
    expect((await checkLimits({ defaults, overrides })).map(({ text }) => text.replace(`${dir}/`, ''))).toEqual([
      `limits.yaml:1:38: \`A.idFormat\` must be a known id format, but was '${shown}'. ${reason}`,
    ]);
  });

  it('an override of a limit that there is not is found', async () => {
    const { defaults, overrides } = written({ overrides: '- Other: { unlimited: true, ids: [1] }\n' });
    expect((await checkLimits({ defaults, overrides })).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^`Other` is not the name of a limit\./),
    ]);
  });

  it('limits without overrides need no format', async () => {
    const { defaults } = written({ limits: LIMITS });
    expect(await checkLimits({ defaults })).toEqual([]);
  });

  it.each([
    [
      { formats: 'domain' },
      "`formats` must be a list of id formats, or of keys for theirs, but was 'domain'. For example formats: [domain(), fqdnSet()].",
    ],
    [
      { formats: [accountId] },
      '`formats[0]` must be an id format, or a key, but was [Function: accountId]. For example formats: [domain(), fqdnSet()].',
    ],
    [
      { keys: {} },
      '`checkLimits` has no option `keys` (its value was {}). Options: defaults, overrides, maxBytes, formats.',
    ],
  ])('wrong options are rejected: %o', async (options, message) => {
    expect((await rejected(() => checkLimits({ defaults: 'x', ...options } as never))).message).toBe(message);
  });
});
