import { accountId, createLimiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { Learning, taughtBy } from '@sluice/outgoing';
import fc from 'fast-check';
import { parseList, isInnerList } from 'structured-headers';
import { expect, test } from 'vitest';
import { membersIn } from '../../packages/outgoing/src/fields/members.ts';
import { sized } from '../sized.ts';
import { anyFields, anyStatus, DIALECTS } from './field-arbitraries.ts';
import { RUNS } from './runs.ts';
import { StepCounts } from './step-counts.ts';

const key = accountId();

/** Answers in the order in which they come, each to one of the calls that are on their way. */
const sequence = fc.array(
  fc.record({
    status: anyStatus,
    fields: anyFields,
    answersFirst: fc.boolean(),
    passMs: fc.constantFrom(0, 0, 1, 250, 5000, 70_000),
    cost: fc.constantFrom(1, 1, 7),
  }),
  { minLength: 1, maxLength: 12 },
);
const numbers = fc.record({
  burst: fc.integer({ min: 1, max: 500 }),
  count: fc.integer({ min: 1, max: 500 }),
  period: fc.constantFrom('1s', '1m', '1h', '7d'),
});
const options = fc.record({
  learnAtMost: fc.constantFrom('1ms', '1s', '1m', '1h'),
  learn: fc.constantFrom({}, { requests: 'B' }, { tokens: 'A', a: 'B' }),
});
/** 16,000 in `npm run test:all`; `SLUICE_ALL_CASES=yes SLUICE_PROPERTY_RUNS=6250` tries 100,000. */
const SEQUENCES = sized(300, 16 * RUNS);
/** What has to occur in them. */
const NAMED = [...DIALECTS, 'taught', 'denied', '1,000 lines', '10³⁰', 'in the past', 'contradictory', 'garbage'];
const IDS = [
  { limit: 'A', id: '7' },
  { limit: 'B', id: '7' },
] as const;

test('no answers add tokens, or hold calls back longer than learnAtMost', async () => {
  const counts = new StepCounts();
  await fc.assert(
    fc.asyncProperty(numbers, numbers, options, sequence, async (a, b, { learnAtMost, learn }, answers) => {
      const time = new FakeTime();
      time.setWall(Date.UTC(2026, 10, 29, 12));
      const limiter = createLimiter({ limits: { A: { key, ...a }, B: { key, ...b } }, time, log: false });
      const learning = new Learning(limiter, { learn, learnAtMost });
      const atMostMs = { '1ms': 1, '1s': 1000, '1m': 60_000, '1h': 3_600_000 }[learnAtMost];
      const look = () => IDS.map((entry) => limiter.checkSync([entry]));
      const calls = [];
      counts.note('sequences');
      for (const { status, fields, answersFirst, passMs, cost } of answers) {
        const begun = learning.begin([IDS[0], { ...IDS[1], cost }]);
        if (begun instanceof Promise) {
          // A denial, and then a probe that hangs.
          await time.pass(2 * atMostMs);
          if ((await Promise.race([begun, undefined])) === undefined) throw new Error('The call still waits.');
        }
        calls.push(await begun);
        time.advance(passMs);
        const before = look();
        note(counts, status, fields);
        await (answersFirst ? calls.shift() : calls.pop())!.answered({ status, headers: fields });
        for (const [i, { remaining, retryAfterMs }] of look().entries()) {
          expect(remaining).toBeLessThanOrEqual(before[i]!.remaining);
          expect(retryAfterMs).toBeLessThanOrEqual(Math.max(before[i]!.retryAfterMs, atMostMs));
        }
      }
      for (const call of calls) call.ended();
      time.advance(2 * atMostMs);
      expect(learning.begin(IDS)).not.toBeInstanceOf(Promise);
    }),
    { numRuns: SEQUENCES },
  );
  console.log(counts.line());
  expect(NAMED.filter((what) => counts.of(what) === 0)).toEqual([]);
});

type Fields = typeof anyFields extends fc.Arbitrary<infer T> ? T : never;

/** Counts an answer, and what is in its fields. */
function note(counts: StepCounts, status: number, fields: Fields): void {
  const { lessons, denied } = taughtBy(status, fields, 0);
  const texts = Object.values(fields.texts);
  counts.step(denied === undefined ? (lessons.length > 0 ? 'taught' : 'taught nothing') : 'denied');
  for (const name of DIALECTS) if (name in fields.texts) counts.note(name);
  if (fields.lines === 1000) counts.note('1,000 lines');
  if (texts.some((text) => text.includes(`1${'0'.repeat(30)}`))) counts.note('10³⁰');
  if (lessons.some(({ waitMs }) => waitMs === 0)) counts.note('in the past');
  if (new Set(lessons.map(({ remaining }) => remaining)).size > 1) counts.note('contradictory');
  if (texts.some((text) => /[^\x20-\x7e]/.test(text))) counts.note('garbage');
}

test('an answer teaches figures that are whole, finite or Infinity, and never throws', () => {
  fc.assert(
    fc.property(anyStatus, anyFields, (status, fields) => {
      const { lessons, denied } = taughtBy(status, fields, 0);
      for (const { remaining, waitMs = 0 } of lessons) {
        expect(Number.isSafeInteger(remaining) && remaining >= 0).toBe(true);
        expect(waitMs >= 0).toBe(true);
      }
      expect((denied?.waitMs ?? 0) >= 0).toBe(true);
    }),
    { numRuns: sized(10_000, 100_000) },
  );
});

test('members of a list are those that a library for structured fields finds', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', ';', ',', '=', ' ', 'a', 'r', '1', '-'), maxLength: 40 });
  const wellFormed = fc
    .array(fc.tuple(fc.string({ unit: fc.constantFrom('"', '\\', ';', ',', '=', 'a') }), fc.nat(99)), { maxLength: 4 })
    .map((parts) => parts.map(([name, r]) => `"${name.replaceAll(/["\\]/g, '\\$&')}"; r=${r}`).join(' ,\t'));
  fc.assert(
    fc.property(fc.oneof(text, wellFormed), (list) => {
      let parsed;
      try {
        parsed = parseList(list);
      } catch {
        fc.pre(false);
        return;
      }
      const known = parsed.filter((item) => !isInnerList(item) && typeof item[0] === 'string');
      const found = membersIn(list);
      expect(found.map(({ name }) => name)).toEqual(known.map(([name]) => name));
      for (const [i, { parameters }] of found.entries()) {
        const r = known[i]![1].get('r');
        if (typeof r === 'number' && Number(parameters.get('r')) !== r) throw new Error(`${r} was read wrongly.`);
      }
    }),
    { numRuns: sized(1000, 10_000) },
  );
});

test('a megabyte in any field takes as long as is linear', () => {
  const units = ['"', '\\', ';', ',', '=', '1', '1,', ', ', ';r=0', '"a";r=0,', '1s', '9', ' ', '-', '🦥', '"a"; '];
  const names = ['ratelimit', 'ratelimit-policy', 'ratelimit-remaining', 'x-ratelimit-reset', 'retry-after', 'date'];
  for (const unit of units)
    for (const name of names)
      for (const characters of [8192, 1_000_000]) {
        const text = unit.repeat(Math.floor(characters / unit.length));
        const fields = {
          get: (field: string) => (field === name ? text : field === 'x-ratelimit-remaining' ? '1' : null),
        };
        const startMs = performance.now();
        for (let i = 0; i < 3; i++) taughtBy(429, fields, 0);
        expect(performance.now() - startMs, `${name}: ${unit}`).toBeLessThan(150);
      }
});
