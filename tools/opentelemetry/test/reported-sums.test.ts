import {
  AggregationTemporality,
  createAllowListAttributesProcessor,
  MeterProvider,
  MetricReader,
} from '@opentelemetry/sdk-metrics';
import { accountId, createLimiter, everyone, memoryStore, type Limiter, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { instrument } from '@sluice/opentelemetry';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { collectGarbage } from '../../../test/collect-garbage.ts';

const { CUMULATIVE, DELTA } = AggregationTemporality;

/** A reader that collects when it is asked. */
class AskedReader extends MetricReader {
  constructor(temporality: AggregationTemporality) {
    super({ aggregationTemporalitySelector: () => temporality });
  }
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}

  /** The sum of a counter over all its attributes. */
  async sumOf(name: string): Promise<number> {
    const { resourceMetrics, errors } = await this.collect();
    if (errors.length > 0) throw new Error('A collection failed.', { cause: errors });
    return resourceMetrics.scopeMetrics
      .flatMap(({ metrics }) => metrics.filter(({ descriptor }) => descriptor.name === name))
      .flatMap(({ dataPoints }) => dataPoints.map(({ value }) => value as number))
      .reduce((sum, value) => sum + value, 0);
  }
}

/** A provider with two readers, and a view that drops all attributes of a counter but the limit. */
function provider(viewed = 'sluice.decisions') {
  const readers = [new AskedReader(CUMULATIVE), new AskedReader(DELTA)] as const;
  const views = [{ instrumentName: viewed, attributesProcessors: [createAllowListAttributesProcessor(['limit'])] }];
  return { readers, meterProvider: new MeterProvider({ readers: [...readers], views }) };
}

const limitsOf = (count: number) => ({ Orders: { key: accountId(), count, period: '1h' } }) as const;
const limiterOf = (store?: Store): Limiter => createLimiter({ limits: limitsOf(3), store, log: false });

/** A limiter under test, and what its decisions should add to the counters. */
interface Known {
  readonly limiter: Limiter;
  stop: (() => void) | undefined;
  decided: number;
  reported: number;
}

const step = fc.record({
  what: fc.constantFrom(
    'begin',
    'share',
    'spend',
    'spend',
    'spend',
    'stop',
    'close',
    'reload',
    'again',
    'read',
    'read',
  ),
  which: fc.nat(7),
  reader: fc.constantFrom(0, 1),
});

test('the sums of two readers are those of the decisions at each collection, whatever was ended, closed or reloaded', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { readers, meterProvider } = provider();
      const shared = memoryStore();
      const all: Known[] = [];
      let added = 0;
      const begin = (store?: Store): void => {
        const limiter = limiterOf(store);
        all.push({ limiter, stop: instrument(limiter, { meterProvider }), decided: 0, reported: 0 });
      };
      const end = (known: Known): void => {
        known.stop?.();
        if (known.stop !== undefined) known.reported = known.decided;
        known.stop = undefined;
      };
      const close = async (known: Known): Promise<void> => {
        all.splice(all.indexOf(known), 1);
        if (known.stop !== undefined) known.reported = known.decided;
        closed.push(known);
        await known.limiter.close();
      };
      const closed: Known[] = [];
      const expected = (): number =>
        [...all, ...closed].reduce((sum, { stop, decided, reported }) => sum + (stop ? decided : reported), 0);
      const read = async (reader: 0 | 1): Promise<void> => {
        const sum = await readers[reader].sumOf('sluice.decisions');
        if (reader === 1) added += sum;
        expect(reader === 0 ? sum : added).toBe(expected());
      };
      for (const { what, which, reader } of steps) {
        const known = all[which % Math.max(1, all.length)];
        if (what === 'begin' || known === undefined) begin();
        else if (what === 'share') begin(shared);
        else if (what === 'spend') {
          known.limiter.spendSync([{ limit: 'Orders', id: '7' }]);
          known.decided += 1;
        } else if (what === 'stop') end(known);
        else if (what === 'close') await close(known);
        else if (what === 'reload') {
          end(known);
          await close(known);
          begin();
        } else if (what === 'again') known.stop ??= instrument(known.limiter, { meterProvider });
        else await read(reader);
      }
      await read(0);
      await read(1);
      await Promise.all(all.map(({ limiter }) => limiter.close()));
      shared.close();
      await read(0);
      await meterProvider.shutdown();
    }),
  );
});

describe('what several limiters count at one store', () => {
  test('is reported once, and stays when both are closed and the store is closed', async () => {
    const { readers, meterProvider } = provider();
    const store = memoryStore({ maxKeys: 1000 });
    const both: readonly Limiter[] = [
      createLimiter({ limits: limitsOf(3), store, log: false }),
      createLimiter({ limits: { Pages: limitsOf(3).Orders }, store, log: false }),
    ];
    const stops = both.map((limiter) => instrument(limiter, { meterProvider }));
    for (let id = 0; id < 3000; id++) both[0]!.spendSync([{ limit: 'Orders', id: `${id}` }]);
    const { evicted } = store.stats();
    expect(evicted).toBeGreaterThan(0);
    expect(await readers[0].sumOf('sluice.memory.evicted')).toBe(evicted);
    stops[0]!();
    expect(await readers[0].sumOf('sluice.memory.evicted')).toBe(evicted);
    await Promise.all(both.map((limiter) => limiter.close()));
    store.close();
    expect(await readers[0].sumOf('sluice.memory.evicted')).toBe(evicted);
    expect(await readers[1].sumOf('sluice.memory.evicted')).toBe(evicted);
    expect(await readers[1].sumOf('sluice.memory.evicted')).toBe(0);
  });
});

test('the denials of a limit that was removed are counted once in a view without its kind', async () => {
  const { readers, meterProvider } = provider('sluice.limit.denials');
  const limiter = limiterOf();
  onTestFinished(() => limiter.close());
  instrument(limiter, { meterProvider });
  for (let i = 0; i < 5; i++) limiter.spendSync([{ limit: 'Orders', id: '7' }]);
  expect(await readers[0].sumOf('sluice.limit.denials')).toBe(2);
  limiter.replace({ limits: { InFlight: concurrency({ key: everyone(), concurrency: 5 }) } });
  expect(await readers[0].sumOf('sluice.limit.denials')).toBe(2);
});

test('a limiter that was closed can be collected as garbage, also if the instrumentation was not ended', async () => {
  const { readers, meterProvider } = provider();
  const made = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const limiter = limiterOf();
      instrument(limiter, { meterProvider });
      limiter.spendSync([{ limit: 'Orders', id: '7' }]);
      await limiter.close();
      return new WeakRef(limiter);
    }),
  );
  const alive = (): number => made.filter((each) => each.deref() !== undefined).length;
  await collectGarbage(() => alive() === 0);
  expect(alive()).toBe(0);
  expect(await readers[0].sumOf('sluice.decisions')).toBe(20);
});

test('an ended instrumentation does not end one that began later', async () => {
  const { readers, meterProvider } = provider();
  const limiter = limiterOf();
  onTestFinished(() => limiter.close());
  const stop = instrument(limiter, { meterProvider });
  stop();
  instrument(limiter, { meterProvider });
  stop();
  limiter.spendSync([{ limit: 'Orders', id: '7' }]);
  expect(await readers[0].sumOf('sluice.decisions')).toBe(1);
});
