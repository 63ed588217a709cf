import { all, any, implies } from '../engine/logic.ts';
import { EXACT, LEVEL } from '../engine/ranges.ts';
import type { Part, Scenario } from '../engine/theorem.ts';
import { BothStores, type Entry, type Kind } from '../subjects/stores.ts';

const SOURCES = [
  'packages/core/src/store/memory/memory-store.ts',
  'packages/core/src/store/transaction-rule.ts',
  'packages/redis/lua/decide.lua',
  'packages/core/src/store/server-entry.ts',
  'packages/redis/src/batches/script-batch.ts',
];
/** The moment of a call, in µs: up to late 2033. */
const MICROS = { min: 1, max: Math.floor((EXACT - LEVEL.max) / 16) };
/** A minute in ticks. Keys live for a second after their TAT; the script takes an older TAT for an error. */
const OLDEST = 60_000 * 16_000;
/** Up to nine years. */
const HALF = { min: 0, max: 2 ** 52 };
const MODES = ['check-and-spend', 'check-only', 'spend-only', 'charge'] as const;

/** The modes of a batch of two. */
const PAIRS = [
  ['check-and-spend', 'check-and-spend'],
  ['check-and-spend', 'check-only'],
  ['spend-only', 'check-and-spend'],
  ['check-and-spend', 'charge'],
  ['check-only', 'spend-only'],
] as const;

/** Both stores at one moment, with buckets whose levels are not known. */
function storesWith(t: Scenario, ids: readonly string[]): BothStores {
  const stores = new BothStores();
  stores.setTime(t.int('now in µs', MICROS));
  for (const id of ids) {
    const state = t.choice(`bucket ${id}`, ['without a key', 'in debt'] as const);
    if (state === 'in debt') stores.put(id, t.int(`level of ${id} in ticks`, { min: 1, max: LEVEL.max }));
  }
  return stores;
}

/** Both stores at one moment, with a bucket in any state: also one that is full again and still stored. */
function storesWithAny(t: Scenario): BothStores {
  const state = t.choice('bucket', ['without a key', 'in debt', 'full again'] as const);
  const stores = new BothStores();
  const written = t.int('time at which the bucket was written in µs', MICROS);
  const now = state === 'full again' ? written + t.int('µs since then', { min: 1, max: 2 ** 40 }) : written;
  stores.setTime(written);
  if (state !== 'without a key') stores.put('a', t.int('level that was written in ticks', { min: 1, max: LEVEL.max }));
  stores.setTime(now);
  if (state === 'full again') {
    const since = stores.nowTicks - stores.redisTat('a');
    t.assume(all(since >= 0, since <= OLDEST));
  }
  return stores;
}

type WholeEntry = Entry & Record<'incrementTicks' | 'fitTicks' | 'capTicks', number>;

function entry(t: Scenario, id: string, mode: (typeof MODES)[number]): WholeEntry {
  return {
    id,
    mode,
    incrementTicks: t.int(`cost × T at ${id}`, LEVEL),
    fitTicks: t.int(`threshold at ${id}`, LEVEL),
    capTicks: t.int(`cap at ${id}`, LEVEL),
  };
}

/** Two transactions, which may have equal numbers. None of their sums exceeds 2^53, as `alike-one` has them. */
function entriesOf(t: Scenario, ids: readonly string[], modes: readonly (typeof MODES)[number][]): readonly Entry[] {
  const numbers = ids.map((id) => [t.int(`cost × T at ${id}`, HALF), t.int(`threshold at ${id}`, HALF)] as const);
  for (const [i, [increment]] of numbers.entries()) {
    for (const [other] of numbers.slice(0, i)) t.assume(increment !== other);
  }
  return ids.map((id, i) => {
    const [incrementTicks, threshold] = numbers[i]!;
    return { id, mode: modes[i]!, incrementTicks, fitTicks: threshold, capTicks: threshold };
  });
}

function storesInDebt(t: Scenario, ids: readonly string[]): BothStores {
  const stores = new BothStores();
  stores.setTime(t.int('now in µs', MICROS));
  for (const id of ids) stores.put(id, t.int(`level of ${id} in ticks`, { min: 1, max: HALF.max }));
  return stores;
}

/** Claims that both stores answered alike, and have the same buckets now. */
function claimAlike(
  t: Scenario,
  stores: BothStores,
  ids: readonly string[],
  memory: readonly number[],
  redis: readonly number[],
): void {
  t.tell('levels of the memory store', memory.join(', '));
  t.tell('levels of the script', redis.join(', '));
  t.claim(
    'both reply the same levels',
    all(memory.length === redis.length, ...memory.map((level, i) => level === redis[i])),
  );
  for (const id of ids) {
    t.claim(`both leave the same level of ${id}`, stores.memoryLevel(id) === stores.redisLevel(id));
    const life = stores.lifeMs(id);
    if (life !== undefined) t.claim(`the key of ${id} lives until its TAT`, life * 16_000 >= stores.redisLevel(id));
  }
}

const SINGLE: readonly Kind[] = ['charge', 'refund', 'cap', 'reset', 'check'];

/** That a store in memory and one in Redis can't be told apart. */
export const stores: Part = {
  title: 'Memory and Redis decide alike',
  about:
    'The memory store and decide.lua get the same calls at the same moment, on buckets with any level. The script is the text that Redis gets, encoded by the code that ships.',
  theorems: [
    {
      name: 'all-or-nothing',
      words:
        'A batch of two buckets takes all or nothing. It passes exactly if both have room. So it is in the memory store, and by “alike-two” in Redis.',
      sources: SOURCES.slice(0, 2),
      run(t) {
        const ids = ['a', 'b'] as const;
        const both = storesInDebt(t, ids);
        const before = ids.map((id) => both.memoryLevel(id));
        const batch = ids.map((id) => entry(t, id, 'check-and-spend'));
        both.memory('spend', batch);
        const passes = all(
          ...batch.map((each, i) => any(each.incrementTicks <= each.fitTicks - before[i]!, each.incrementTicks === 0)),
        );
        for (const [i, { id, incrementTicks }] of batch.entries()) {
          const after = both.memoryLevel(id);
          t.tell(`level of ${id} after it`, after);
          t.claim(`${id} gives its tokens`, implies(passes, after === before[i]! + incrementTicks));
          t.claim(`${id} keeps its tokens`, any(passes, after === before[i]!));
        }
      },
    },
    {
      name: 'alike-one',
      words:
        'One transaction of any mode: both stores reply the same level and leave the same TAT. The key of Redis lives at least until its TAT.',
      sources: SOURCES,
      assumes: ['A key that is full again is at most a minute old: Redis drops it after a second.'],
      run(t) {
        const both = storesWithAny(t);
        const batch = [entry(t, 'a', t.choice('mode', MODES))];
        claimAlike(t, both, ['a'], both.memory('spend', batch), both.script('spend', batch));
      },
    },
    {
      name: 'alike-in-full',
      words: 'One plain transaction without the short way that the script has for it: alike in both stores, too.',
      sources: SOURCES,
      assumes: ['A key that is full again is at most a minute old: Redis drops it after a second.'],
      run(t) {
        const both = storesWithAny(t);
        const batch = [entry(t, 'a', 'check-and-spend')];
        claimAlike(t, both, ['a'], both.memory('spend', batch), both.scriptInFull('spend', batch));
      },
    },
    {
      name: 'short-way',
      words:
        'One plain transaction by the short way and by the general way of the script: the same reply and the same key, also after a step of the clock.',
      sources: ['packages/redis/lua/decide.lua'],
      run(t) {
        const batch = [entry(t, 'a', 'check-and-spend')];
        const [short, full] = [new BothStores(), new BothStores()];
        const now = t.int('now in µs', MICROS);
        const tat = t.int('level by the clock', { min: -2 * OLDEST, max: LEVEL.max });
        const written = t.int('level that was written', { min: 1, max: LEVEL.max });
        const isStored = t.choice('bucket', [true, false] as const);
        for (const way of [short, full]) {
          way.setTime(now);
          if (isStored) way.putWritten('a', tat, written);
        }
        const [level] = short.script('spend', batch) as [number];
        const [levelInFull] = full.scriptInFull('spend', batch) as [number];
        t.tell('level of the short way', level);
        t.tell('level of the general way', levelInFull);
        t.claim('the same level', level === levelInFull);
        t.claim('the same TAT', short.redisTat('a') === full.redisTat('a'));
        t.claim('the same level is written', short.redisWritten('a') === full.redisWritten('a'));
        t.claim('the same life', short.lifeMs('a') === full.lifeMs('a'));
      },
    },
    {
      name: 'alike-two',
      words: 'Two buckets in one batch, in five pairs of modes: alike in both stores. All or nothing is taken.',
      sources: SOURCES,
      assumes: ['The increments of the transactions differ.'],
      run(t) {
        const both = storesInDebt(t, ['a', 'b']);
        const batch = entriesOf(t, ['a', 'b'], t.choice('modes', PAIRS));
        claimAlike(t, both, ['a', 'b'], both.memory('spend', batch), both.script('spend', batch));
      },
    },
    {
      name: 'alike-three',
      words: 'Three buckets in one batch, one of each mode that looks at its level: alike in both stores.',
      sources: SOURCES,
      assumes: ['The increments of the transactions differ.'],
      run(t) {
        const ids = ['a', 'b', 'c'];
        const both = storesInDebt(t, ids);
        const batch = entriesOf(t, ids, ['check-and-spend', 'check-only', 'spend-only']);
        claimAlike(t, both, ids, both.memory('spend', batch), both.script('spend', batch));
      },
    },
    {
      name: 'alike-alternatives',
      words:
        'Two alternatives on shared buckets: both stores take and name the first that passes. They take nothing of the other.',
      sources: SOURCES,
      assumes: ['The increments of the transactions differ.'],
      run(t) {
        const both = storesInDebt(t, ['a', 'b']);
        const [own, other] = entriesOf(t, ['a', 'b'], ['check-and-spend', 'check-and-spend']) as [Entry, Entry];
        const first = [own];
        const second = [{ ...own, fitTicks: HALF.max, mode: 'spend-only' as const }, other];
        const memory = both.memoryFirst([first, second]);
        const redis = both.scriptFirst([first, second]);
        t.claim('the same one passes', memory.passed === redis.passed);
        claimAlike(t, both, ['a', 'b'], memory.levelsTicks, redis.levelsTicks);
      },
    },
    {
      name: 'alike-others',
      words: 'Charges, refunds, caps, resets and looks: alike in both stores.',
      sources: SOURCES,
      assumes: ['A key that is full again is at most a minute old: Redis drops it after a second.'],
      run(t) {
        const both = storesWithAny(t);
        const kind = t.choice('call', SINGLE);
        const batch = [entry(t, 'a', 'check-and-spend')];
        claimAlike(t, both, ['a'], both.memory(kind, batch), both.script(kind, batch));
      },
    },
    {
      name: 'alike-refund-of-decision',
      words: 'The refund of a decision, with and without a queue: alike in both stores.',
      sources: SOURCES,
      run(t) {
        const both = storesWith(t, ['a']);
        const queue = t.choice('queue', [false, true] as const);
        const tatAfterSpendTicks = t.int('TAT after the decision', { min: 0, max: EXACT });
        const incrementTicks = t.int('cost × T', LEVEL);
        const line = queue ? { lineTicks: t.int('τ of the queue', LEVEL) } : {};
        const batch = [{ id: 'a', incrementTicks, tatAfterSpendTicks, ...line }];
        claimAlike(t, both, ['a'], both.memory('refund', batch), both.script('refund', batch));
      },
    },
    {
      name: 'batches-in-order',
      words:
        'Two batches in one call of the script are decided like two calls of the memory store. One comes after the other.',
      sources: SOURCES,
      run(t) {
        const both = storesWith(t, ['a']);
        const kind = t.choice('second call', ['spend', 'charge', 'refund', 'check'] as const);
        const first = [entry(t, 'a', 'check-and-spend')];
        const second = [{ ...first[0]!, incrementTicks: t.int('cost × T of the second', LEVEL) }];
        const memory = [...both.memory('spend', first), ...both.memory(kind, second)];
        const redis = both.run([
          { kind: 'spend', batch: first },
          { kind, batch: second },
        ]);
        claimAlike(t, both, ['a'], memory, redis);
      },
    },
    {
      name: 'late-call-takes-nothing',
      words: 'A call that reaches Redis after its deadline takes nothing.',
      sources: ['packages/redis/lua/decide.lua'],
      run(t) {
        const both = storesWith(t, ['a']);
        const last = t.int('last moment in ticks', { min: 0, max: EXACT });
        const before = both.redisLevel('a');
        const mode = t.choice('mode', ['charge', 'check-and-spend'] as const);
        const levels = both.run([{ kind: 'spend', batch: [entry(t, 'a', mode)] }], last);
        t.claim('it replies levels only in time', levels.length > 0 === both.nowTicks <= last);
        t.claim('a late call changes nothing', any(both.nowTicks <= last, both.redisLevel('a') === before));
      },
    },
    {
      name: 'written-level',
      words:
        'A bucket keeps its debt when the clock of Redis steps back. What the script writes of its level is never below it, and at most a sixteenth above it.',
      formula: 'level ≤ level after the step ≤ 17 / 16 × level',
      sources: ['packages/redis/lua/decide.lua'],
      assumes: ['The level is at most 203 days.'],
      run(t) {
        const both = new BothStores();
        const now = t.int('time of the charge in µs', MICROS);
        const earlier = t.int('time after the step in µs', MICROS);
        t.assume(earlier < now);
        const level = t.int('level in ticks', { min: 1, max: 2 ** 48 });
        both.setTime(now);
        const call = t.choice('call', ['charge', 'spend'] as const);
        const spent = { mode: 'check-and-spend', incrementTicks: level, fitTicks: level, capTicks: level } as const;
        both.script(call, [{ id: 'a', ...spent }]);
        both.setTime(earlier);
        const look = { id: 'a', mode: 'check-only', incrementTicks: 1, fitTicks: 0, capTicks: 0 } as const;
        const [seen] = both.script('check', [look]) as [number];
        t.tell('level after the step', seen);
        t.claim('no token is granted', seen >= level);
        t.claim('a sixteenth is taken at most', 16 * seen <= 17 * level);
      },
    },
    {
      name: 'clock-repair',
      words:
        'If the clock of Redis steps back, nothing is granted. A level that is above its threshold and above the level that was written is cut to the level that was written, and no other level is changed by a look.',
      sources: ['packages/redis/lua/decide.lua'],
      run(t) {
        const both = new BothStores();
        both.setTime(t.int('now in µs', MICROS));
        const level = t.int('level by the clock', { min: 1, max: LEVEL.max });
        const written = t.int('level that was written', { min: 1, max: LEVEL.max });
        both.putWritten('a', level, written);
        const threshold = t.int('threshold', LEVEL);
        const kind = t.choice('call', ['check', 'spend'] as const);
        // Both take nothing; a plain transaction goes the short way.
        const mode = t.choice('mode', ['check-only', 'check-and-spend'] as const);
        const incrementTicks = mode === 'check-only' ? 1 : 0;
        const batch = [{ id: 'a', mode, incrementTicks, fitTicks: threshold, capTicks: threshold } as const];
        const [seen] = both.script(kind, batch) as [number];
        const most = both.writtenLevel(written);
        t.tell('level in the reply', seen);
        t.claim('a level that can be right stays', implies(any(level <= threshold, level <= most), seen === level));
        t.claim('an error is cut to what was written', implies(all(level > threshold, level > most), seen === most));
        t.claim('a repair is never below what was written', implies(level >= written, seen >= written));
        t.claim('it is stored', both.redisLevel('a') === seen);
      },
    },
  ],
};
