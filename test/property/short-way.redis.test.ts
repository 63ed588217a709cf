import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withoutShortWay } from '../../packages/redis/test/support/short-way.ts';
import { runSteered } from '../../packages/redis/test/support/steered-script.ts';
import { emptyCall, added } from '../../packages/redis/test/support/script-call.ts';
import { decideScript } from '../../packages/redis/src/batches/script-batch.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { atMost } from './runs.ts';

const server = await redisServer();
const inFull = withoutShortWay(decideScript.source);

const EXACT = 2 ** 53;
/** A TAT further in the past is not a bucket. */
const OLDEST_TICKS = 60_000 * 16_000;
/** It is followed by the time of its expiry in the steered script. */
const NEVER = ` ${EXACT}`;

const ticks = fc.oneof(fc.nat(100), fc.nat({ max: EXACT }), fc.nat({ max: 86_400 * 16_000_000 }));
const near = fc.integer({ min: -2, max: 2 });

/** What is stored before a call, as an offset of the TAT from a moment that matters, or as any text. */
const stored = fc.oneof(
  { weight: 2, arbitrary: fc.constant('no key' as const) },
  {
    weight: 12,
    arbitrary: fc.record({
      from: fc.constantFrom('now', 'oldest', 'fits', 'threshold', 'most', 'any'),
      offset: near,
      ticks,
      code: fc.nat(999),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', 'abc', '-', '12', '-12', '123', '1234', '-1234', '12.34', '1e10', '0x1234'),
  },
  { weight: 1, arbitrary: fc.constant('list' as const) },
);
const one = fc.record({ clockMicros: fc.nat({ max: EXACT / 16 - 1 }), threshold: ticks, increment: ticks, stored });
type One = typeof one extends fc.Arbitrary<infer T> ? T : never;

function textOf({
  clockMicros,
  threshold,
  increment,
  stored: { from, offset, ticks: any, code },
}: One & Bucket): string {
  const now = 16n * BigInt(clockMicros);
  const moments = {
    now,
    oldest: now - BigInt(OLDEST_TICKS),
    fits: now + BigInt(threshold) - BigInt(increment),
    threshold: now + BigInt(threshold),
    most: BigInt(EXACT),
    any: now + BigInt(any),
  };
  return `${moments[from] + BigInt(offset)}${String(code).padStart(3, '0')}`;
}
type Bucket = { readonly stored: Exclude<One['stored'], string> };

async function put(key: string, given: One): Promise<void> {
  const { stored: state } = given;
  if (state === 'no key') return;
  if (state === 'list') await server.call('RPUSH', key, 'value');
  else await server.call('SET', key, (typeof state === 'string' ? state : textOf({ ...given, stored: state })) + NEVER);
}

/** The reply to a plain transaction, and what is stored after it. */
async function outcomeOf(source: string, key: string, given: One): Promise<readonly unknown[]> {
  const call = emptyCall();
  const { increment: incrementTicks, threshold: fitTicks, clockMicros } = given;
  const entry = { mode: 'check-and-spend', incrementTicks, fitTicks, capTicks: fitTicks } as const;
  void added(call, { kind: 'spend', batch: [entry], keys: [key] }).catch(() => undefined);
  await put(key, given);
  const reply = await runSteered(server, source, clockMicros, call);
  return [reply, given.stored === 'list' ? await server.call('LRANGE', key, 0, -1) : await server.call('GET', key)];
}

test('one plain transaction has the same reply and leaves the same bucket by the short and by the general way', async () => {
  let keys = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 100, maxLength: 100 }), async (all) => {
      const outcomes = all.map(async (given) => {
        const key = `${keys++}`;
        const short = await outcomeOf(decideScript.source, `short:${key}`, given);
        expect([given, ...short]).toEqual([given, ...(await outcomeOf(inFull, `full:${key}`, given))]);
      });
      await Promise.all(outcomes);
    }),
    { numRuns: atMost(1000) },
  );
});
