import { checkLimits, loadLimits, watchLimits } from '@sluice/config';
import {
  accountId,
  clientNetwork,
  compound,
  createLimiter,
  ipAddress,
  ipv6RangeCIDR,
  by,
  memoryStore,
  OverrideList,
  type IdFormat,
  type Key,
  type LimiterEvent,
  type LimiterOptions,
  type Store,
} from '@sluice/core';
import { RequestDecision } from '@sluice/core/http';
import { quota } from '@sluice/core/quota';
import { domain, fqdnSet, registrableDomain } from '@sluice/domains';
import { rateLimit } from '@sluice/express';
import { rateLimit as fastifyRateLimit } from '@sluice/fastify';
import { redisStore } from '@sluice/redis';
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';

// What a client, a file, a database or an error of another library may bring into a message. Whatever it is, messages
// stay short, and everything in them is seen.
const SPECIAL = 'a\u202eb\u2028c\u001b[31md\ud800e\nf\u2066g\u0085h\u200bi\ufeffj\u0000k\r\nl\u{e0041}m';
const HOSTILE: readonly [what: string, text: string][] = [
  ['with characters that are not seen', SPECIAL],
  ['of four million letters', 'x'.repeat(4_000_000)],
  ['of four million spaces', ' '.repeat(4_000_000)],
  ['of a million marks of direction', '\u202e'.repeat(1_000_000)],
];

const NUMBERS = { count: 2, period: '1m' };
const options = (given: object): LimiterOptions => given as LimiterOptions;
const limiterOf = (given: object = {}) =>
  createLimiter(options({ limits: { A: { key: accountId(), ...NUMBERS } }, log: false, ...given }));
const limitWith = (given: object) => () =>
  createLimiter(options({ limits: { A: { key: accountId(), ...NUMBERS, ...given } } }));
const spend = (key: Key<never>) => (id: string) => {
  const limiter = createLimiter({ limits: { A: { key, ...NUMBERS } } });
  return limiter.spend([{ limit: 'A', id }]);
};
const formatNamed = (name: string): IdFormat => ({ name, canonical: (text) => text });
const limitOfFormat = (name: string) => ({ key: by(undefined, { format: formatNamed(name) }) });
const failingStore = (cause: unknown): Store => {
  const fail = (): Promise<never> => Promise.reject(cause);
  return { run: fail, close: () => undefined };
};

/** Gives the messages of all events until some have come. */
async function eventsOf(run: (onEvent: (event: { readonly message: string }) => void) => unknown): Promise<string[]> {
  const messages: string[] = [];
  await Promise.resolve(run(({ message }) => messages.push(message))).catch(({ message }: Error) =>
    messages.push(message),
  );
  await new Promise((resolve) => void setImmediate(resolve));
  return messages;
}

/** Everything that takes a text from outside and may put it into an error. */
const THROWING: Readonly<Record<string, (text: string) => unknown>> = {
  'an option of createLimiter': (text) => createLimiter(options({ [text]: 1 })),
  'options of createLimiter': (text) => createLimiter(text as never),
  'the name of a limit': (text) => createLimiter(options({ limits: { [text]: { key: accountId(), ...NUMBERS } } })),
  limits: (text) => createLimiter(options({ limits: text })),
  'a limit': (text) => createLimiter(options({ limits: { A: text } })),
  'an option of a limit': (text) => limitWith({ [text]: text })(),
  'a quota without its function': (text) => limitWith({ [text]: text, per: text })(),
  'an option of a quota': (text) =>
    limiterOf({ limits: { A: quota({ key: accountId(), count: 2, [text]: text } as never) } }),
  'options of a quota': (text) => quota(text as never),
  'a unit of the calendar': (text) =>
    limiterOf({ limits: { A: quota({ key: accountId(), count: 2, per: text as never }) } }),
  'a count': (text) => limitWith({ count: text })(),
  'a period': (text) => limitWith({ period: text })(),
  'a key': (text) => limitWith({ key: text })(),
  'a policy': (text) => limitWith({ onFailure: text })(),
  disabled: (text) => limitWith({ disabled: text })(),
  overrides: (text) => limiterOf({ overrides: text }),
  'the limit of overrides': (text) => limiterOf({ overrides: { [text]: {} } }),
  'the overrides of a limit': (text) => limiterOf({ overrides: { A: text } }),
  'an override': (text) => limiterOf({ overrides: { A: { a: text } } }),
  'the id of an override': (text) => limiterOf({ overrides: { A: { [`\0${text}`]: 'unlimited' } } }),
  'the id of an override with numbers': (text) =>
    limiterOf({ overrides: { A: { [text]: { count: 0, period: '1s' } } } }),
  'an option of an override': (text) => limiterOf({ overrides: { A: { a: { ...NUMBERS, [text]: 1 } } } }),
  'an id that is listed twice': (text) => {
    const list = new OverrideList();
    for (let i = 0; i < 2; i++) list.add(text, limitOfFormat(text), text, 'unlimited');
  },
  'a list that a limiter has': (text) => {
    const list = new OverrideList();
    limiterOf({ overrides: list });
    list.add(text, limitOfFormat(text), text, 'unlimited');
  },
  'a list of another format': (text) => {
    const list = new OverrideList();
    list.add('A', limitOfFormat(text), 'a', 'unlimited');
    limiterOf({ overrides: list });
  },
  'trusted proxies': (text) => limiterOf({ trustedProxies: text }),
  'a trusted proxy': (text) => limiterOf({ trustedProxies: [text] }),
  'the header of addresses': (text) => limiterOf({ trustedProxies: [], addressHeader: text }),
  failure: (text) => limiterOf({ failure: text }),
  'an option of failure': (text) => limiterOf({ failure: { [text]: 1 } }),
  'a deadline': (text) => limiterOf({ failure: { deadlineMs: text } }),
  'a log': (text) => limiterOf({ log: text }),
  'a store': (text) => limiterOf({ store: text }),
  'what is replaced': (text) => limiterOf().replace({ [text]: 1 } as never),
  'a limit of an entry': (text) => limiterOf().spend([{ limit: text, id: 'a' }]),
  'a name of an entry': (text) => limiterOf().spend([{ limit: 'A', id: 'a', [text]: 1 }]),
  'a mode': (text) => limiterOf().spend([{ limit: 'A', id: 'a', mode: text as never }]),
  'a cost': (text) => limiterOf().spend([{ limit: 'A', id: 'a', cost: text as never }]),
  entries: (text) => limiterOf().spend(text as never),
  'an id that is asked for twice': (text) =>
    createLimiter({ limits: { A: { key: by(undefined, { format: formatNamed('any') }), ...NUMBERS } } }).spend([
      { limit: 'A', id: text },
      { limit: 'A', id: text },
    ]),
  'an account id': (text) => spend(accountId())(`\0${text}`),
  'a decimal account id': (text) => spend(accountId(undefined, { decimal: true }))(text),
  'an address': (text) => spend(ipAddress())(text),
  'a range': (text) => spend(ipv6RangeCIDR())(text),
  'the mask of a range': (text) => spend(ipv6RangeCIDR())(`2001:db8::/${text}`),
  'the zone of a range': (text) => spend(ipv6RangeCIDR())(`2001:db8::%${text}/48`),
  'a network': (text) => spend(clientNetwork())(text),
  'a domain': (text) => spend(domain())(text),
  'a wildcard': (text) => registrableDomain(`*.${text}`),
  'a set of names': (text) => spend(fqdnSet())(text),
  'a compound id': (text) => spend(compound(accountId(), ipAddress()))(text),
  'a compound id of a format': (text) =>
    spend(compound(by(undefined, { format: formatNamed(text) }), accountId()))('a'),
  'a format': (text) => by(undefined, { format: { name: text } as never }),
  'a function of a format': (text) => by(5 as never, { format: formatNamed(text) }),
  'a key without a function': (text) => by(undefined, { format: formatNamed(text) }).or(clientNetwork()),
  'a fallback of the same format': (text) =>
    accountId(() => null)
      .or(by(() => null, { format: formatNamed(text) }))
      .or(by(() => null, { format: formatNamed(text) })),
  'a fallback': (text) => accountId(() => null).or(text as never),
  'what a format throws': (text) => {
    const canonical = (): never => {
      throw new Error(text);
    };
    limiterOf({
      limits: { A: { key: by(undefined, { format: { name: 'mine', canonical } }), ...NUMBERS } },
      overrides: { A: { a: 'unlimited' } },
    });
  },
  'an option of rateLimit': (text) => rateLimit({ ...NUMBERS, [text]: 1 }),
  'the limit of rateLimit': (text) => rateLimit({ limit: text as never }),
  'a concurrency limit without its function': (text) => rateLimit({ concurrency: text, [text]: text } as never),
  fields: (text) => rateLimit({ ...NUMBERS, fields: text as never }),
  'the name of an inline limit': (text) => rateLimit({ ...NUMBERS, name: text }),
  'a limit of a middleware': (text) => rateLimit({ limiter: limiterOf() as never, limits: [text] as never }),
  'a limit of a middleware with a mode': (text) =>
    rateLimit({
      limiter: limiterOf({ limits: { A: { key: ipAddress(), ...NUMBERS } } }),
      limits: [{ limit: 'A', mode: text as never }],
    }),
  'an option of a limit of a middleware': (text) =>
    rateLimit({ limiter: limiterOf(), limits: [{ limit: 'A', [text]: 1 } as never] }),
  'a limiter': (text) => rateLimit({ limiter: text as never }),
  'a limit that a request does not meet': (text) => new RequestDecision().charge(1, text),
  'an option of memoryStore': (text) => memoryStore({ [text]: 1 }),
  'an option of a key': (text) => ipv6RangeCIDR({ [text]: 1 }),
  'an option of redisStore': (text) => redisStore({ [text]: 1 }),
  'a prefix': (text) => redisStore({ url: 'redis://127.0.0.1:1', prefix: text }),
  'a url of Redis': (text) => redisStore({ url: text }),
  'a client of Redis': (text) => redisStore({ client: text as never }),
  'a client of a class': (text) => redisStore({ client: { constructor: { name: text } } as never }),
  'a tag': (text) => redisStore({ url: 'redis://127.0.0.1:1', hashTag: { [text]: 1 } as never }),
  'an option of loadLimits': (text) => loadLimits({ [text]: 1 } as never),
  'a path': (text) => loadLimits({ defaults: text, keys: {} }),
  'a key of loadLimits': (text) => loadLimits({ defaults: () => ({}), keys: { [text]: 5 as never } }),
  'a key that the file does not have': (text) =>
    loadLimits({ defaults: () => ({ A: NUMBERS }), keys: { A: accountId(), [text]: accountId() } }),
  'what a source throws': (text) =>
    loadLimits({
      defaults: () => {
        throw new Error(text);
      },
      keys: {},
    }),
  'a format of checkLimits': (text) => checkLimits({ defaults: () => ({}), formats: text as never }),
  'an option of watchLimits': (text) => watchLimits(limiterOf(), {} as never, { [text]: 1 }),
  'a route of Fastify': async (text) => {
    const app = Fastify({ routerOptions: { ignoreDuplicateSlashes: true } });
    await app.register(fastifyRateLimit, NUMBERS);
    app.get(
      `/${text.replaceAll(/[\n\r]/g, '').slice(0, 1_000_000)}`,
      { config: { rateLimit: { limits: [text] } } as never },
      () => '',
    );
    await app.ready();
  },
};

/** Files, as text and as data. */
const FILES: Readonly<Record<string, (text: string) => unknown>> = {
  'a text': (text) => text,
  'a name': (text) => ({ [text]: NUMBERS }),
  'a field': (text) => ({ A: { ...NUMBERS, [text]: text } }),
  'a value': (text) => ({ A: { count: text, period: text, idFormat: text, disabled: text } }),
  'a limit': (text) => ({ A: text }),
  'a list': (text) => [text],
  'a name in quotes': (text) => `${JSON.stringify(text)}: 1`,
  'a value in quotes': (text) => `A: { count: ${JSON.stringify(text)}, period: 1s }`,
  'a number': () => `A: ${'9'.repeat(50_000)}`,
  'a number of a list': () => '9'.repeat(50_000),
  'a tag': (text) => `A: !${text.replaceAll(/\s/g, '')} 1`,
  'an alias': (text) => `A: *${text.replaceAll(/\s/g, '')}`,
  'an escape': (text) => `A: "\\${text}"`,
  'a block': (text) => `A: |${text}`,
  'a directive': (text) => `%${text}\n---\nA: 1`,
};
const OVERRIDES: Readonly<Record<string, (text: string) => unknown>> = {
  'an id': (text) => [{ A: { unlimited: true, ids: [`\0${text}`] } }],
  'an id twice': (text) => [{ A: { unlimited: true, ids: [text, text] } }],
  'an id with a comment': (text) => [{ A: { unlimited: true, ids: [{ id: '', [text]: text, comment: [text] }] } }],
  'a limit': (text) => [{ [text]: { unlimited: true, ids: [1] } }],
  'an override': (text) => [text],
  'a field': (text) => [{ A: { [text]: text, ids: text } }],
};

/** What has no listener to throw to. */
const TOLD: Readonly<Record<string, (text: string, onEvent: (event: LimiterEvent) => void) => unknown>> = {
  'what a store fails with': async (text, onEvent) => {
    const limiter = limiterOf({ store: failingStore(new Error(text)), onEvent });
    for (let i = 0; i < 5; i++) await limiter.spend([{ limit: 'A', id: 'a' }]);
    await limiter.charge([{ limit: 'A', id: 'a' }]);
    await limiter.refund([{ limit: 'A', id: 'a' }]);
    await limiter.close();
  },
  'what a store answers': async (text, onEvent) => {
    const answer = (): Promise<never> => Promise.resolve({ [text]: text } as never);
    const store = { ...failingStore(0), spend: answer } as Store;
    const limiter = limiterOf({ store, onEvent });
    for (let i = 0; i < 5; i++) await limiter.spend([{ limit: 'A', id: 'a' }]);
    await limiter.close();
  },
  'what an overrides function throws': (text, onEvent) =>
    limiterOf({
      onEvent,
      overrides: () => {
        throw new Error(text);
      },
    }).spend([{ limit: 'A', id: 'a' }]),
  'what an overrides function gives': (text, onEvent) =>
    limiterOf({ onEvent, overrides: () => ({ [text]: text }) }).spend([{ limit: 'A', id: 'a' }]),
};

/** What is wrong with messages: lines that are too long, or have characters that are not seen. */
function faultsOf(messages: readonly string[]): readonly string[] {
  return messages
    .flatMap((message) => message.split('\n'))
    .filter((line) => line.length > 4000 || /[\p{C}\p{Zl}\p{Zp}]/u.test(line))
    .map((line) => JSON.stringify(line.slice(0, 400)));
}

async function thrownBy(run: () => unknown): Promise<readonly string[]> {
  try {
    await run();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

describe.each(HOSTILE)('a text %s stays short and is seen in every message:', (_, text) => {
  test.each(Object.entries(THROWING))('%s', async (_what, run) => {
    // Some of the texts are right in some places.
    expect(faultsOf(await thrownBy(() => run(text)))).toEqual([]);
  });

  test.each(Object.entries(FILES))('%s of a file of limits', async (_what, content) => {
    const file = content(text);
    const problems = await checkLimits({ defaults: () => file });
    const thrown = await thrownBy(() => loadLimits({ defaults: () => file, keys: {} }));
    expect(thrown).toHaveLength(1);
    expect(faultsOf([...thrown, ...problems.flatMap(({ text: line, message }) => [line, message])])).toEqual([]);
  });

  test.each(Object.entries(OVERRIDES))('%s of a file of overrides', async (_what, content) => {
    const defaults = () => ({ A: NUMBERS });
    const thrown = await thrownBy(() =>
      loadLimits({ defaults, overrides: () => content(text), keys: { A: accountId() } }),
    );
    expect(thrown).toHaveLength(1);
    expect(faultsOf(thrown)).toEqual([]);
  });

  test.each(Object.entries(TOLD))('%s, in an event', async (_what, run) => {
    const messages = await eventsOf((onEvent) => run(text, onEvent));
    expect(messages).not.toEqual([]);
    expect(faultsOf(messages)).toEqual([]);
  });
});

test.each(Object.entries(THROWING))('%s: at least one of the texts is rejected', async (_what, run) => {
  const refused = await Promise.all(HOSTILE.map(([, text]) => thrownBy(() => run(text))));
  expect(refused.flat()).not.toEqual([]);
});

test('files that can not be reloaded are a log line of that many lines as there are problems', async () => {
  let count = 1;
  const loaded = await loadLimits({ defaults: () => ({ A: { count, period: '1s' } }), keys: { A: accountId() } });
  const limiter = createLimiter({ ...loaded });
  const messages: string[] = [];
  const live = watchLimits(limiter, loaded, { log: (line) => void messages.push(line), everyMs: false });
  count = SPECIAL as never;
  await live.reload();
  expect(faultsOf(messages)).toEqual([]);
  expect(messages[0]).toContain('`A.count` must be a whole number');
});
