import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decideScript } from '../../src/batches/script-batch.ts';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { BURST, charge, isAllowed, order, owed, read, refund, TOKEN_TICKS } from '../support/orders.ts';
import { readyStore } from '../support/ready-store.ts';
import { added, emptyCall } from '../support/script-call.ts';
import { withoutShortWay } from '../support/short-way.ts';
import { callsOf } from '@sluice/core/testing';

const EPOCH_MS = Date.UTC(2026, 0, 1);
const server = await redisServer();
const store = await readyStore({ url: server.url, prefix: 's:', rememberDenialsMs: 0 });
const key = (id: string): string => `s:Orders:${id}`;

/** What a key holds: a TAT, and the level that it was written with, by the three digits behind it. */
async function kept(id: string): Promise<{ tatTicks: number; levelTicks: number }> {
  const digits = await server.call<string>('GET', key(id));
  const code = Number(digits.slice(-3));
  return { tatTicks: Number(digits.slice(0, -3)), levelTicks: 2 ** Math.floor(code / 16) * (1 + (code % 16) / 16) };
}

/** Writes a bucket as the script does at a moment when the server's clock is ahead by some milliseconds. */
async function writeAhead(id: string, levelTicks: number, aheadMs: number): Promise<void> {
  await callsOf(store).spend([
    { ...order(id), incrementTicks: levelTicks, fitTicks: levelTicks, capTicks: levelTicks },
  ]);
  const digits = await server.call<string>('GET', key(id));
  const tatTicks = BigInt(digits.slice(0, -3)) + BigInt(aheadMs) * 16_000n;
  await server.call('SET', key(id), `${tatTicks}${digits.slice(-3)}`);
}

/** How often the commands of scripts ran while something was done. */
async function commandsOf(done: () => Promise<unknown>): Promise<Record<string, number>> {
  await server.call('CONFIG', 'RESETSTAT');
  await done();
  const calls = await server.commandCalls();
  return Object.fromEntries(['evalsha', 'time', 'get', 'set', 'del'].map((name) => [name, calls.get(name) ?? 0]));
}

test('the script is lua/decide.lua, as `npm run setup` found it', () => {
  expect(decideScript.source).toBe(readFileSync(new URL('../../lua/decide.lua', import.meta.url), 'utf8'));
});

describe('what is kept of a bucket', () => {
  test('is its TAT in ticks since 2026 and a code of its level, in one integer', async () => {
    const { nowTicks } = await callsOf(store).spend([order('kept', 2)]);
    expect((await kept('kept')).tatTicks).toBe(nowTicks + 2 * TOKEN_TICKS);
    expect(await server.call('OBJECT', 'ENCODING', key('kept'))).toBe('int');
    const offMs = Math.abs(nowTicks / 16_000 + EPOCH_MS - Date.now());
    expect(offMs).toBeLessThan(60_000);
  });

  test('lives until it is full again and a second longer', async () => {
    await callsOf(store).spend([order('lives', 2)]);
    const leftMs = await server.call<number>('PTTL', key('lives'));
    expect(leftMs).toBeGreaterThan(120_000);
    expect(leftMs).toBeLessThanOrEqual(121_001);
  });

  test('shows the level when it was written, rounded up by at most a sixteenth', async () => {
    const levels = [1, 2, 15, 16, 17, 31, 32, 33, 1000, 65_535, 65_536, 65_537, 2 ** 40 + 1, 5e15];
    await callsOf(store).spend(
      levels.map((level) => ({ ...order(`level-${level}`), incrementTicks: level, fitTicks: level, capTicks: level })),
    );
    // The shortest have passed since, and their keys live on for a second.
    for (const level of levels) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { levelTicks } = await kept(`level-${level}`);
      expect(levelTicks).toBeGreaterThanOrEqual(level);
      expect(levelTicks).toBeLessThanOrEqual(level * (1 + 1 / 16));
    }
  });

  test('is exact for a TAT of sixteen figures, and still one integer', async () => {
    const tenYears = 3652.5 * 86_400 * 16_000_000;
    const { nowTicks } = await callsOf(store).spend([
      { ...order('far'), incrementTicks: tenYears - 1, fitTicks: tenYears, capTicks: tenYears },
    ]);
    expect((await kept('far')).tatTicks).toBe(nowTicks + tenYears - 1);
    expect(await server.call('OBJECT', 'ENCODING', key('far'))).toBe('int');
  });

  test('goes when it is full again by a refund, and by a reset', async () => {
    await callsOf(store).spend([order('back', 2), order('reset', 2)]);
    await callsOf(store).refund([refund('back', 2)]);
    await callsOf(store).reset([{ limit: 'Orders', id: 'reset' }]);
    expect(await server.call('EXISTS', key('back'), key('reset'))).toBe(0);
  });
});

describe('what a call does on the server', () => {
  test('is one GET and one SET for a bucket that is taken from', async () => {
    const calls = await commandsOf(() => callsOf(store).spend([order('new')]));
    expect(calls).toEqual({ evalsha: 1, time: 1, get: 1, set: 1, del: 0 });
  });

  test('is not written when a batch is denied', async () => {
    await callsOf(store).spend([order('empty', 5)]);
    const calls = await commandsOf(() => callsOf(store).spend([order('other'), order('empty')]));
    expect(calls).toEqual({ evalsha: 1, time: 1, get: 2, set: 0, del: 0 });
  });

  test('is not written where nothing changes', async () => {
    const nothing = [order('nothing', 0), order('look', 1, 'check-only'), order('empty', 1, 'spend-only')];
    const calls = await commandsOf(async () => {
      await callsOf(store).spend(nothing);
      await callsOf(store).check([order('nothing'), order('look')]);
      await callsOf(store).charge([charge('nothing', 0)]);
      await callsOf(store).refund([refund('nothing')]);
    });
    expect(calls).toMatchObject({ set: 0, del: 0 });
  });

  test('is not written when a level is above the current burst', async () => {
    await callsOf(store).spend([
      { ...order('other'), incrementTicks: 50 * TOKEN_TICKS, fitTicks: 50 * TOKEN_TICKS, capTicks: 50 * TOKEN_TICKS },
    ]);
    const calls = await commandsOf(async () => {
      await callsOf(store).check([order('other')]);
      await callsOf(store).spend([order('other')]);
      await callsOf(store).charge([charge('other')]);
    });
    expect(calls).toMatchObject({ set: 0, del: 0 });
  });

  test('is written once for a cap that cuts, and not for one that does not', async () => {
    await callsOf(store).spend([
      { ...order('capped'), incrementTicks: 50 * TOKEN_TICKS, fitTicks: 50 * TOKEN_TICKS, capTicks: 50 * TOKEN_TICKS },
    ]);
    const { limit, id, capTicks } = order('capped');
    expect((await commandsOf(() => callsOf(store).cap([{ limit, id, capTicks }]))).set).toBe(1);
    expect((await commandsOf(() => callsOf(store).cap([{ limit, id, capTicks }]))).set).toBe(0);
  });

  test('is one GET and one SET for a bucket of many batches', async () => {
    const many = () => Promise.all(Array.from({ length: BURST + 2 }, () => callsOf(store).spend([order('hot')])));
    expect(await commandsOf(many)).toEqual({ evalsha: 1, time: 1, get: 1, set: 1, del: 0 });
  });
});

describe('what a call does for alternatives', () => {
  test('is one GET and one SET when the first passes: the others are not looked at', async () => {
    const alternatives = ['a', 'b', 'c'].map((id) => [order(`first-${id}`)]);
    const calls = await commandsOf(() => callsOf(store).spendFirst(alternatives));
    expect(calls).toEqual({ evalsha: 1, time: 1, get: 1, set: 1, del: 0 });
  });

  test('is one SET when the second passes, and nothing for the third', async () => {
    await callsOf(store).spend([order('second-a', 5)]);
    const alternatives = [[order('second-a'), order('second-x')], [order('second-b')], [order('second-c')]];
    const calls = await commandsOf(() => callsOf(store).spendFirst(alternatives));
    expect(calls).toEqual({ evalsha: 1, time: 1, get: 3, set: 1, del: 0 });
  });

  test('is not written when all are denied, with one GET for a bucket of several', async () => {
    await callsOf(store).spend([order('denied', 5)]);
    const alternatives = [[order('denied')], [order('denied', 2), order('denied-x')], [order('denied', 3)]];
    const calls = await commandsOf(() => callsOf(store).spendFirst(alternatives));
    expect(calls).toEqual({ evalsha: 1, time: 1, get: 2, set: 0, del: 0 });
  });

  test('is at one reading of the clock', async () => {
    await callsOf(store).spend([order('clock', 5)]);
    const readings = await callsOf(store).spendFirst([[order('clock')], [order('clock', 2)], [order('clock-x')]]);
    expect(new Set(readings.map(({ nowTicks }) => nowTicks)).size).toBe(1);
  });

  test('with a broken bucket in one that is tried is to fail, and to take nothing', async () => {
    await server.call('SET', key('alternative-text'), 'hello');
    await callsOf(store).spend([order('alternative-empty', 5)]);
    const denied = [order('alternative-empty')];
    const broken = callsOf(store).spendFirst([
      denied,
      [...denied, order('tried'), order('alternative-text')],
      [order('next')],
    ]);
    const fine = callsOf(store).spendFirst([denied, [order('fine')], [order('alternative-text')]]);
    await expect(broken).rejects.toMatchObject({ code: 'ERR_STORE_BUCKET', message: expect.stringContaining('-text') });
    expect((await fine).map(owed)).toEqual([[5], [0]]);
    expect(owed(await callsOf(store).check([order('tried'), order('next'), order('fine')]))).toEqual([0, 0, 1]);
  });
});

test.each([
  ['where a long has 64 bits', 'false', decideScript.source],
  ['where it has 32', 'true', decideScript.source],
  ['where a long has 64 bits, the general way', 'false', withoutShortWay(decideScript.source)],
  ['where it has 32, the general way', 'true', withoutShortWay(decideScript.source)],
])(
  'commands are given nothing but text, %s: Redis 7.2.0 to 7.2.4 write some numbers as 1e+8',
  async (way, isShort, source) => {
    const isLongShort = "format(WHOLE, 4294967296) ~= '4294967296'";
    expect(source).toContain(isLongShort);
    const watched = `local real = redis
local function watched(call)
  return function(...)
    for _, arg in ipairs({ ... }) do assert(type(arg) == 'string', 'not text: ' .. tostring(arg)) end
    return call(...)
  end
end
local redis = { call = watched(real.call), pcall = watched(real.pcall) }
${source.replace(isLongShort, isShort)}`;
    const call = emptyCall();
    void added(call, { kind: 'spend', batch: [order('text')], keys: [key(way)] });
    const { keys, args } = call;
    const [done, nowTicks] = await server.call<[done: number, nowTicks: number, level: number]>(
      'EVAL',
      watched,
      keys.length,
      ...keys,
      Number.MAX_SAFE_INTEGER,
      ...args,
    );
    expect(done).toBe(1);
    expect((await kept(way)).tatTicks).toBe(nowTicks + TOKEN_TICKS);
  },
);

describe('after the clock of the server ran ahead and came back', () => {
  const DAY_MS = 86_400_000;

  test('a bucket owes what it owed when it was written, and at most a sixteenth more', async () => {
    await writeAhead('ahead', 4 * TOKEN_TICKS, DAY_MS);
    const { levelsTicks } = await callsOf(store).check([order('ahead')]);
    expect(levelsTicks[0]).toBeGreaterThanOrEqual(4 * TOKEN_TICKS);
    expect(levelsTicks[0]).toBeLessThanOrEqual(4 * TOKEN_TICKS * (1 + 1 / 16));
  });

  test('that is so for a debt of other numbers, too', async () => {
    await writeAhead('ahead-other', 50 * TOKEN_TICKS, DAY_MS);
    const { levelsTicks } = await callsOf(store).check([order('ahead-other')]);
    expect(levelsTicks[0]).toBeGreaterThanOrEqual(50 * TOKEN_TICKS);
    expect(levelsTicks[0]).toBeLessThanOrEqual(50 * TOKEN_TICKS * (1 + 1 / 16));
  });

  test('it is mended by the first look, once, and from then on the debt passes', async () => {
    await writeAhead('mended', 4 * TOKEN_TICKS, DAY_MS);
    expect((await commandsOf(() => callsOf(store).check([order('mended')]))).set).toBe(1);
    const { tatTicks } = await kept('mended');
    expect((await commandsOf(() => callsOf(store).check([order('mended')]))).set).toBe(0);
    const { nowTicks, levelsTicks } = await callsOf(store).check([order('mended')]);
    expect(nowTicks + levelsTicks.at(0)!).toBe(tatTicks);
  });

  test('a denied batch repairs it in one write together with a refund of the next batch of the call', async () => {
    await writeAhead('beside', BURST * TOKEN_TICKS, DAY_MS);
    const calls = await commandsOf(async () => {
      const asked = [
        callsOf(store).spend([order('beside'), order('fresh')]),
        callsOf(store).refund([refund('beside', 2)]),
      ] as const;
      const [denied, given] = await Promise.all(asked);
      expect([isAllowed([order('beside'), order('fresh')], denied), owed(given)]).toEqual([
        false,
        [expect.any(Number)],
      ]);
    });
    expect(calls).toMatchObject({ set: 1, del: 0 });
    expect((await callsOf(store).check([order('beside')])).levelsTicks[0]).toBeLessThan(4 * TOKEN_TICKS);
  });

  test('it is repaired beside a key that contains no bucket', async () => {
    await writeAhead('good', 4 * TOKEN_TICKS, DAY_MS);
    await server.call('SET', key('text'), 'hello');
    await expect(callsOf(store).spend([order('good'), order('text')])).rejects.toMatchObject({
      code: 'ERR_STORE_BUCKET',
    });
    const { nowTicks } = await callsOf(store).check([order('fresh')]);
    expect((await kept('good')).tatTicks - nowTicks).toBeLessThan(BURST * TOKEN_TICKS);
  });
});

describe('a key that contains no TAT', () => {
  const foreign: [what: string, command: string, ...args: string[]][] = [
    ['text', 'SET', 'hello'],
    ['nothing', 'SET', ''],
    ['a fraction', 'SET', '1.5'],
    ['not a number', 'SET', 'nan'],
    ['infinity', 'SET', 'inf'],
    ['more than is exact', 'SET', '9007199254740994000'],
    ['as much below', 'SET', '-9007199254740994000'],
    ['a TAT without the code of a level', 'SET', String((Date.now() - EPOCH_MS + 60_000) * 16_000)],
    ['a small number', 'SET', '17'],
    ['a number below zero', 'SET', '-1'],
    ['a number with zeros before it', 'SET', '007'],
    ['blanks around a number', 'SET', ' 12 '],
    ['a number in hexadecimal', 'SET', '0x10'],
    ['a number with an exponent', 'SET', '1e3'],
    ['a number with an exponent that lies ahead', 'SET', '8e15'],
    ['a number with a fraction that lies ahead', 'SET', '8000000000000000000.0'],
    ['a number in hexadecimal that lies ahead', 'SET', '0x1c6bf526340000'],
    ['a moment long past', 'SET', `${(Date.now() - EPOCH_MS - 120_000) * 16_000}640`],
    ['a list', 'RPUSH', '1'],
    ['a hash', 'HSET', 'field', '1'],
  ];

  test.each(foreign)('(%s) breaks its own batch, which takes nothing', async (what, command, ...args) => {
    const id = `foreign ${what}`.replaceAll(' ', '-');
    await server.call(command, key(id), ...args);
    const broken = callsOf(store).spend([read(id), order(id)]);
    const fine = callsOf(store).spend([read(id)]);
    await expect(broken).rejects.toMatchObject({
      code: 'ERR_STORE_BUCKET',
      message:
        `The Redis key '${key(id)}' does not contain a bucket: another program writes keys with this prefix. ` +
        'Give the store a `prefix` of its own, or stop the other program. Then reset the bucket or delete the key.',
    });
    expect(owed(await fine)).toEqual([0]);
    expect(owed(await callsOf(store).check([read(id)]))).toEqual([1]);
  });

  test.each(foreign)('(%s) is let go by a reset', async (what, command, ...args) => {
    const id = `reset ${what}`.replaceAll(' ', '-');
    await server.call(command, key(id), ...args);
    await callsOf(store).reset([{ limit: 'Orders', id }]);
    expect(owed(await callsOf(store).check([order(id)]))).toEqual([0]);
  });

  test('breaks checks, charges and refunds of it alike', async () => {
    await server.call('SET', key('alike'), 'hello');
    const calls = [
      callsOf(store).check([order('alike')]),
      callsOf(store).charge([charge('alike')]),
      callsOf(store).refund([refund('alike')]),
    ];
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_STORE_BUCKET' } });
    }
  });
});

test('a TAT that has just passed is a full bucket, though its key is still there', async () => {
  await server.call('SET', key('past'), `${(Date.now() - EPOCH_MS - 1000) * 16_000}640`);
  expect(owed(await callsOf(store).check([order('past')]))).toEqual([0]);
});

test('numbers that no script of ours gives are an error, and no decision', async () => {
  const replies = [[1, 'x'], [1], [1, 2, 3], [1, 1.5]];
  for (const reply of replies) {
    const call = emptyCall();
    const reading = added(call, { kind: 'check', batch: [order('7')], keys: ['k'] });
    call.answered(reply);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await expect(reading).rejects.toMatchObject({ code: 'ERR_STORE_ANSWER' });
  }
});

test('an id that is not text is a rejected promise too', async () => {
  await expect(callsOf(store).spend([order('\uD800')])).rejects.toMatchObject({ code: 'ERR_ID' });
});

test('a server without memory for a write takes from no bucket', async () => {
  const full = await redisServer();
  const poor = await readyStore({ url: full.url, rememberDenialsMs: 0 });
  await full.config('maxmemory', '1');
  await expect(callsOf(poor).spend([order('a'), order('b')])).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  expect(owed(await callsOf(poor).check([order('a'), order('b')]))).toEqual([0, 0]);
});

test('that the script may not read is not an error of one bucket', async () => {
  await server.call('ACL', 'SETUSER', 'no-get', 'on', '>secret', '~s:*', '+@all', '-get');
  const limited = await readyStore({ url: server.url.replace('//', '//no-get:secret@'), prefix: 's:' });
  await expect(callsOf(limited).spend([order('acl')])).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
});
