import assert from 'node:assert/strict';
import { assertTat, SampleLimit, slow, tatOf } from '../sample-limit.ts';
import { promise, type StoreCase } from '../store-case.ts';
import { callsOf } from '../store-calls.ts';

const T = slow.emissionIntervalTicks;

/** Ids that a store must keep apart although they look like separators, patterns, escapes, or each other. */
const oddIds = [
  ['', ' ', ':', '::', '%', '%3A', '%253A', '/', '\\', '*', '?', '[a]', '{x}1', '{x}2', '{}', '#', '"', "'", '$'],
  ['a', 'A', 'a ', ' a', 'a:', ':a', 'a:b', 'a%3Ab', 'a\nb', 'a\r\nb', '\0', 'a\0', '__proto__', 'constructor'],
  ['é', 'e\u0301', 'ß', 'ss', '€', '\u20AC\u20AC', '日本', '🦦', '🦦🦦', '\u00FF', '\u0100', 'a\u0100', '\uFEFFa'],
  ['0', '00', '1e3', '1000', 'null', 'undefined', '203.0.113.7', '2001:db8:7::/48', 'x'.repeat(300)],
  ['x'.repeat(299), `${'x'.repeat(299)}y`, `y${'x'.repeat(299)}`, '€'.repeat(300), `${'€'.repeat(299)}é`],
].flat();

/** Limits and ids that are the same text when they are joined without escaping. */
const boundaries = [
  ['Limit', 'a:b'],
  ['Limit.a', 'b'],
  ['Limit', '.ab'],
  ['Limit.a', ':b'],
  ['Limit-a', 'b'],
  ['Limit', '-ab'],
  ['Limi', 't:b'],
  ['Limit', 'b'],
  ['limit', 'b'],
] as const;

/** The identity of buckets. */
export const keyCases: readonly StoreCase[] = [
  promise('ids of any text have buckets of their own', async ({ store }) => {
    // With different debts, two ids that share a bucket can't both have the right level.
    const limit = new SampleLimit('Odd', oddIds.length, T);
    const first = await callsOf(store).spend(oddIds.map((id, index) => limit.spend(id, index + 1)));
    const reading = await callsOf(store).check(oddIds.map((id) => limit.spend(id)));
    for (const index of oddIds.keys()) assertTat(reading, tatOf(first, (index + 1) * T, index), index);
  }),

  promise('limit and id are told apart wherever one ends and the other begins', async ({ store }) => {
    const batch = boundaries.map(([limit, id]) => new SampleLimit(limit, boundaries.length, T).spend(id));
    for (const [index, transaction] of batch.entries()) {
      await callsOf(store).spend([{ ...transaction, incrementTicks: (index + 1) * T }]);
    }
    const { levelsTicks } = await callsOf(store).check(batch);
    assert.deepEqual(
      levelsTicks.map((level) => Math.ceil(level / T)),
      batch.map((_, index) => index + 1),
    );
  }),

  promise('the same id in another string is the same bucket', async ({ store }) => {
    const { nowTicks } = await callsOf(store).spend([slow.spend('account-€-12345678', 2)]);
    const rebuilt = ['account', '€', '12345678'].join('-');
    assertTat(await callsOf(store).check([slow.spend(rebuilt)]), nowTicks + 2 * T);
  }),
];
