import type { StoreOperation, StoreReading } from '@sluice/core/store';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeAnswer, encodeReading } from '../src/wire/answer-codec.ts';
import type { Frame } from '../src/wire/frame.ts';
import { FrameWriter } from '../src/wire/frame-writer.ts';
import { encodeHello, NO_ID, PROTOCOL_VERSION } from '../src/wire/hello.ts';
import { MessageReader } from '../src/wire/message-reader.ts';
import { decodeOperation, encodeOperation } from '../src/wire/operation-codec.ts';

/** Reads what was written, in chunks of some bytes. */
function received<T>(writer: FrameWriter, decode: (frame: Frame) => T, chunkBytes = Infinity): T {
  const results: T[] = [];
  const reader = new MessageReader({
    onHello() {},
    onFrame(frame) {
      results.push(decode(frame));
      expect(frame.isAtEnd).toBe(true);
    },
  });
  const bytes = Buffer.concat([
    encodeHello({ version: PROTOCOL_VERSION, pid: 1, hostMicros: 0, id: NO_ID, turn: 0 }),
    writer.take(),
  ]);
  for (let i = 0; i < bytes.length; i += chunkBytes) reader.push(bytes.subarray(i, i + chunkBytes));
  expect(results).toHaveLength(1);
  const [result] = results as [T];
  return result;
}

const text = fc.string({
  unit: fc.oneof(fc.constantFrom('\0', '\uD800', '\uDFFF', '\u00e9', '\u{1F600}'), fc.string()),
});
const ticks = fc.maxSafeNat();
const period = fc.tuple(fc.maxSafeInteger(), fc.maxSafeInteger(), fc.maxSafeInteger());
const bucket = { limit: text, id: text };
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const numbers = { incrementTicks: ticks, capTicks: ticks, calendar: maybe(text), period: maybe(period) };
const mode = fc.constantFrom('check-and-spend', 'check-only', 'spend-only', 'charge');
const holding = fc.record({ holder: text, expiryMs: ticks });
const slots = maybe(fc.constant(true));
const transaction = {
  ...bucket,
  ...numbers,
  fitTicks: ticks,
  lineTicks: maybe(ticks),
  mode,
  holding: maybe(holding),
  slots,
};
const refund = {
  ...bucket,
  incrementTicks: ticks,
  tatAfterSpendTicks: maybe(ticks),
  lineTicks: maybe(ticks),
  period: maybe(period),
};
const hold = { ...bucket, slots: fc.constant(true), holder: text, expiryMs: ticks, first: ticks, count: ticks };
const batchOf = (entry: Record<string, fc.Arbitrary<unknown>>) => fc.array(fc.record(entry), { maxLength: 4 });

const operation = fc.oneof(
  fc.record({
    kind: fc.constantFrom('spend', 'check'),
    alternatives: fc.array(batchOf(transaction), { maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant('charge'), batch: batchOf({ ...bucket, ...numbers }) }),
  fc.record({ kind: fc.constant('cap'), batch: batchOf({ ...bucket, capTicks: ticks }) }),
  fc.record({ kind: fc.constant('refund'), batch: batchOf(refund) }),
  fc.record({ kind: fc.constantFrom('renew', 'release'), batch: batchOf(hold) }),
  fc.record({ kind: fc.constant('reset'), batch: batchOf({ ...bucket, calendar: maybe(text), slots }) }),
) as fc.Arbitrary<unknown> as fc.Arbitrary<StoreOperation>;

test('every operation arrives as it was sent, whatever texts it has and however its bytes arrive', () => {
  fc.assert(
    fc.property(operation, fc.nat(), fc.integer({ min: 1, max: 100 }), (sent, dueMicros, chunkBytes) => {
      const writer = new FrameWriter();
      encodeOperation(writer, sent, dueMicros);
      const got = received(writer, decodeOperation, chunkBytes);
      expect(got.dueMicros).toBe(dueMicros);
      expect(got.operation).toMatchObject(sent);
    }),
  );
});

const level = fc.record({ level: ticks, now: ticks, wallMs: maybe(ticks) });

test('every reading arrives as it was sent', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1, max: 3 }),
      ticks,
      fc.array(level),
      fc.boolean(),
      (passed, nowTicks, buckets, hasPeriods) => {
        const levelsTicks = buckets.map((each) => each.level);
        const periods = {
          bucketNowTicks: buckets.map(({ now }) => now),
          bucketWallMs: buckets.map(({ wallMs }) => wallMs),
        };
        const reading: StoreReading = { passed, nowTicks, levelsTicks, ...(hasPeriods && periods) };
        const writer = new FrameWriter();
        encodeReading(writer, reading);
        const asked: StoreOperation = { kind: 'check', alternatives: [] };
        expect(received(writer, (frame) => decodeAnswer(frame, asked))).toEqual(reading);
      },
    ),
  );
});

test('the name of a limit is sent once for entries that follow each other, and arrives with each of them', () => {
  const entry = (limit: string, id: string) => ({ limit, id, incrementTicks: 1, fitTicks: 9, capTicks: 9 });
  const batch = ['Orders', 'Orders', 'Searches', 'Orders'].map((limit, i) => entry(limit, `id-${i}`));
  const writer = new FrameWriter();
  encodeOperation(writer, { kind: 'charge', batch }, 0);
  const mark = writer.mark();
  encodeOperation(writer, { kind: 'charge', batch: [entry('Orders', 'left out')] }, 0);
  writer.returnTo(mark);
  encodeOperation(writer, { kind: 'charge', batch: [entry('Orders', 'id-4')] }, 0);
  const [first, second] = received(writer, (frame) => [decodeOperation(frame), decodeOperation(frame)] as const);
  expect(first.operation).toMatchObject({ batch });
  expect(second.operation).toMatchObject({ batch: [{ limit: 'Orders', id: 'id-4' }] });
  const bytesOf = (limits: readonly string[]): number => {
    encodeOperation(writer, { kind: 'charge', batch: limits.map((limit) => entry(limit, 'x')) }, 0);
    return writer.take().length;
  };
  expect(bytesOf(['Orders', 'Orders']) - bytesOf(['Orders'])).toBeLessThan(
    bytesOf(['Orders', 'Prices']) - bytesOf(['Orders']),
  );
});
