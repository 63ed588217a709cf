import { accountId, createLimiter, memoryStore, type LimiterEvent, type Store } from '@sluice/core';
import { storeBlocks, storeGuard, type BlocksText } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';

/** The text of a store that several processes use, and what was asked of it. */
class SharedText implements BlocksText {
  text = '';
  reads: string[] = [];
  writes = 0;
  error: Error | undefined;
  /** Runs before the next write. */
  beforeWrite: (() => void) | undefined;

  async read(revision: string): Promise<string | undefined> {
    this.reads.push(revision);
    if (this.error !== undefined) throw this.error;
    return revision !== '' && this.text.startsWith(revision) ? undefined : this.text;
  }

  async write(revision: string, text: string, lifeMs: number): Promise<boolean> {
    if (this.error !== undefined) throw this.error;
    this.beforeWrite?.();
    if (this.text.slice(0, 16) !== revision) return false;
    this.writes++;
    this.lifeMs = lifeMs;
    this.text = text;
    return true;
  }

  lifeMs = 0;
}

/** One process on the store. */
function processOn(text: SharedText, time: FakeTime, onFailure: 'local' | 'closed' = 'local') {
  const inner = memoryStore({ time });
  const events: LimiterEvent[] = [];
  const store: Store = {
    guard: storeGuard,
    blocks: storeBlocks(text, time),
    run: async (operation) => {
      if (text.error !== undefined) throw text.error;
      return inner.run(operation);
    },
    close: () => inner.close(),
  };
  const limits = { Orders: { key: accountId(), count: 1000, period: '1h' } };
  const failure = { onFailure };
  const limiter = createLimiter({ limits, store, time, failure, log: false, onEvent: (event) => events.push(event) });
  const entry = [{ limit: 'Orders' as const, id: '7' }];
  return {
    limiter,
    events,
    spend: async (id = '7') => {
      const decision = await limiter.spend([{ limit: 'Orders', id }]);
      // The read that it began has ended then.
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      return decision;
    },
    block: () => limiter.block([{ ...entry[0]!, forMs: 3_600_000, reason: 'ticket 4711', by: 'mia' }]),
    unblock: () => limiter.unblock(entry),
  };
}

function twoProcesses() {
  const text = new SharedText();
  const time = new FakeTime();
  return { text, time, one: processOn(text, time), other: processOn(text, time) };
}

test('a block takes effect in the other process a second after a decision at the latest, and so does its end', async () => {
  const { one, other, time } = twoProcesses();
  expect((await other.spend()).allowed).toBe(true);
  await one.block();
  expect((await one.spend()).blocked).toBe(true);
  time.advance(1000);
  await other.spend('other');
  expect((await other.spend()).blocked).toBe(true);
  await one.unblock();
  expect((await one.spend()).allowed).toBe(true);
  time.advance(1000);
  // Only requests of the blocked client come, and these ask no store.
  expect((await other.spend()).blocked).toBe(true);
  expect((await other.spend()).allowed).toBe(true);
});

test('the list is read at most once a second, and not while nothing is decided', async () => {
  const { one, text, time } = twoProcesses();
  for (let i = 0; i < 10; i++) await one.spend();
  expect(text.reads).toHaveLength(1);
  time.advance(999.999);
  await one.spend();
  expect(text.reads).toHaveLength(1);
  time.advance(0.001);
  await one.spend();
  expect(text.reads).toHaveLength(2);
  time.advance(3_600_000);
  expect(text.reads).toHaveLength(2);
});

test('each way to decide lets the list be read', async () => {
  const { one, text, time } = twoProcesses();
  const entries = [{ limit: 'Orders', id: '7' }] as const;
  const ways = [
    () => one.limiter.spend(entries),
    () => one.limiter.check(entries),
    () => one.limiter.spend({ firstOf: [entries] }),
    () => one.limiter.spend(entries, { within: '1s' }),
    () => one.limiter.limit('Orders').spend('7'),
  ];
  for (const decide of ways) {
    text.reads = [];
    time.advance(1000);
    // oxlint-disable-next-line no-await-in-loop
    await decide();
    expect(text.reads).toHaveLength(1);
    // The read ends, too.
    // oxlint-disable-next-line no-await-in-loop
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }
});

test('a list that has not changed is asked for by its revision alone', async () => {
  const { one, other, text, time } = twoProcesses();
  await one.block();
  await other.spend();
  text.reads = [];
  time.advance(1000);
  await other.spend();
  expect(text.reads).toEqual([text.text.slice(0, 16)]);
  expect((await other.spend()).blocked).toBe(true);
});

test('a process that starts knows the blocks after ready, and else after its first decision', async () => {
  const { one, text, time } = twoProcesses();
  await one.block();
  const ready = processOn(text, time);
  await ready.limiter.ready();
  expect((await ready.spend()).blocked).toBe(true);
  const hasty = processOn(text, time);
  await hasty.spend();
  expect((await hasty.spend()).blocked).toBe(true);
});

test.each(['local', 'closed'] as const)(
  'what is known stays in effect while the store is down, with %s',
  async (policy) => {
    const { one, text, time } = twoProcesses();
    await one.block();
    const other = processOn(text, time, policy);
    await other.limiter.ready();
    text.error = new Error('down');
    for (let second = 0; second < 3; second++) {
      time.advance(1000);
      expect(await other.spend()).toMatchObject({ blocked: true, outcome: 'denied' });
      expect((await other.spend('6')).failure?.policy).toBe(policy);
    }
    time.advance(3_600_000);
    expect((await other.spend()).blocked).toBe(false);
    await expect(other.block()).rejects.toThrow('down');
    expect(other.events.filter(({ message }) => /blocks/.test(message))).toEqual([]);
  },
);

test('blocks that have ended are asked for no more, but take effect again when the clock has gone back', async () => {
  const { one, other, text, time } = twoProcesses();
  const startMs = time.wallNow();
  await one.block();
  time.advance(3_600_000);
  await other.spend();
  expect((await other.spend()).blocked).toBe(false);
  expect(other.limiter.store.blocks!.isEmpty).toBe(true);
  const sent = text.text.slice(0, 16);
  for (let second = 0; second < 3; second++) {
    time.advance(1000);
    await other.spend();
  }
  expect(text.reads.slice(-3)).toEqual([sent, sent, sent]);
  time.setWall(startMs);
  time.advance(1000);
  await other.spend();
  expect((await other.spend()).blocked).toBe(true);
});

test('the text has only blocks that have not ended, after 100,000', async () => {
  const { one, text, time } = twoProcesses();
  let longest = 0;
  for (let i = 0; i < 1000; i++) {
    const ids = Array.from({ length: 100 }, (_, k) => `id${i}-${k}`);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await one.limiter.block(ids.map((id) => ({ limit: 'Orders', id, forMs: 1000, reason: 'ticket', by: 'mia' })));
    longest = Math.max(longest, text.text.length);
    time.advance(1000);
  }
  expect(longest).toBeLessThan(100 * 120);
  await one.spend();
  expect(one.limiter.store.blocks!.isEmpty).toBe(true);
});

test('two processes that block at the same time both succeed', async () => {
  const { one, other, text } = twoProcesses();
  text.beforeWrite = () => {
    text.beforeWrite = undefined;
    const block = { limit: 'Orders', id: 'first', untilMs: 1e15, reason: 'r', by: 'b' };
    text.text = `0123456789abcdef ${JSON.stringify({ version: 1, blocks: [block] })}`;
  };
  await one.block();
  expect((await other.limiter.blocked()).map(({ id }) => id)).toEqual(['first', '7']);
  expect(text.writes).toBe(1);
});

test('a text that never stays the same is given up, with an error', async () => {
  const { one, text } = twoProcesses();
  let changes = 0;
  text.beforeWrite = () => (text.text = `${String(changes++).padStart(16, '0')} {"version":1,"blocks":[]}`);
  await expect(one.block()).rejects.toThrow('Others have changed the blocks of the store');
  expect(changes).toBe(10);
});

test('a read that began before a block does not undo it', async () => {
  const { one, text } = twoProcesses();
  let answer: (text: string) => void = () => undefined;
  const read = text.read.bind(text);
  text.read = () => new Promise((resolve) => (answer = resolve));
  await one.spend();
  text.read = read;
  await one.block();
  answer('');
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  expect((await one.spend()).blocked).toBe(true);
});

test('a text of another version takes no effect, is not overwritten, and causes one warning', async () => {
  const { one, text, time } = twoProcesses();
  await one.block();
  text.text = '0123456789abcdef {"version":2,"blocks":[]}';
  for (let second = 0; second < 3; second++) {
    time.advance(1000);
    expect((await one.spend()).blocked).toBe(true);
    await one.spend('6');
  }
  expect(one.events.filter(({ type }) => type === 'warning').map(({ message }) => message)).toEqual([
    expect.stringContaining("The blocks of the store can't be read"),
  ]);
  await expect(one.unblock()).rejects.toMatchObject({ code: 'ERR_STORE_ANSWER' });
  expect(text.text).toContain('"version":2');
});

test('the store may delete the text ten minutes after the last block has ended', async () => {
  const { one, text } = twoProcesses();
  await one.block();
  expect(text.lifeMs).toBe(3_600_000 + 600_000);
  await one.unblock();
  expect(text.text).toBe('');
  await one.unblock();
  expect(text.writes).toBe(2);
});

test('a decision without any block makes no other call of the store', async () => {
  const { one, text } = twoProcesses();
  const { limits } = one.limiter as unknown as { limits: unknown };
  await one.spend();
  text.reads = [];
  for (let i = 0; i < 100; i++) await one.spend(String(i));
  expect(text.reads).toEqual([]);
  expect((one.limiter as unknown as { limits: unknown }).limits).toBe(limits);
});
