import { DataPointType, MeterProvider, MetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { accountId, createLimiter, type Limiter, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { instrument } from '@sluice/opentelemetry';
import { describe, expect, onTestFinished, test } from 'vitest';

/** A reader that collects when it is asked. */
class AskedReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

function provider() {
  const reader = new AskedReader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(() => meterProvider.shutdown());
  const read = async () => valuesOf((await reader.collect()).resourceMetrics);
  return { meterProvider, read };
}

/** All values, as `name{attributes}`; of a histogram the number of values. */
function valuesOf({ scopeMetrics }: ResourceMetrics): Readonly<Record<string, number>> {
  return Object.fromEntries(
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ descriptor, dataPointType, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => [
          `${descriptor.name}${JSON.stringify(attributes)}`,
          dataPointType === DataPointType.HISTOGRAM ? (value as { count: number }).count : (value as number),
        ]),
      ),
    ),
  );
}

function limiterOf(store?: Store): Limiter {
  const limiter = createLimiter({
    limits: { Orders: { key: accountId(() => '7'), count: 2, period: '1h' } },
    store,
    log: false,
  });
  onTestFinished(() => limiter.close());
  return limiter;
}

const orders = [{ limit: 'Orders', id: '7' }];

describe('an instrumented limiter', () => {
  test('reports its decisions, denials and tokens when a reader collects', async () => {
    const { meterProvider, read } = provider();
    const limiter = limiterOf();
    instrument(limiter, { meterProvider });
    for (let i = 0; i < 3; i++) limiter.spendSync(orders);
    await limiter.charge([{ limit: 'Orders', id: '8', cost: 1 }]);
    expect(await read()).toMatchObject({
      'sluice.decisions{"limit":"Orders","outcome":"allowed","shadow":"false"}': 2,
      'sluice.decisions{"limit":"Orders","outcome":"denied","shadow":"false"}': 1,
      'sluice.limit.denials{"limit":"Orders","kind":"rate","shadow":"false"}': 1,
      'sluice.limit.near{"limit":"Orders","above":"0.99"}': 2,
      'sluice.tokens{"limit":"Orders","direction":"taken"}': 2,
      'sluice.tokens{"limit":"Orders","direction":"charged"}': 1,
      'sluice.store.failing{"store":"memory"}': 0,
      'sluice.memory.buckets{"limit":"Orders"}': 2,
      'sluice.limit.burst{"limit":"Orders","kind":"rate"}': 2,
    });
  });

  test('reports outages, policies, and how long decisions took', async () => {
    const { meterProvider, read } = provider();
    const limiter = limiterOf({
      guard: storeGuard,
      run: () => Promise.reject(new Error('down')),
      close: () => undefined,
    });
    instrument(limiter, { meterProvider });
    for (let i = 0; i < 3; i++) await limiter.spend(orders);
    expect(await read()).toMatchObject({
      'sluice.decisions{"limit":"Orders","outcome":"allowed","policy":"local","shadow":"false"}': 2,
      'sluice.decision.duration{"outcome":"allowed"}': 2,
      'sluice.store.failing{}': 1,
      'sluice.store.outages{}': 1,
    });
  });

  test('shows the sums over all limiters, where limits have the same name', async () => {
    const { meterProvider, read } = provider();
    for (const limiter of [limiterOf(), limiterOf()]) {
      instrument(limiter, { meterProvider });
      limiter.spendSync(orders);
    }
    expect(await read()).toMatchObject({ 'sluice.tokens{"limit":"Orders","direction":"taken"}': 2 });
  });

  test('reports nothing after the end, which can be repeated, and again after another beginning', async () => {
    const { meterProvider, read } = provider();
    const limiter = limiterOf();
    const stop = instrument(limiter, { meterProvider });
    stop();
    stop();
    limiter.spendSync(orders);
    expect(await read()).toEqual({});
    instrument(limiter, { meterProvider });
    expect(await read()).toMatchObject({ 'sluice.tokens{"limit":"Orders","direction":"taken"}': 1 });
  });

  test('reports what it counted after it was closed', async () => {
    const { meterProvider, read } = provider();
    const limiter = limiterOf();
    instrument(limiter, { meterProvider });
    limiter.spendSync(orders);
    await limiter.close();
    expect(await read()).toMatchObject({ 'sluice.tokens{"limit":"Orders","direction":"taken"}': 1 });
  });

  test('a closed limiter is reported without decisions, and the next one as usual', async () => {
    const { meterProvider, read } = provider();
    const [closed, open] = [limiterOf(), limiterOf()];
    await closed.close();
    const stop = instrument(closed, { meterProvider });
    expect(await read()).toMatchObject({ 'sluice.limit.burst{"limit":"Orders","kind":"rate"}': 2 });
    expect(Object.keys(await read())).not.toContainEqual(expect.stringContaining('sluice.decisions'));
    instrument(open, { meterProvider });
    open.spendSync(orders);
    expect(await read()).toMatchObject({ 'sluice.tokens{"limit":"Orders","direction":"taken"}': 1 });
    stop();
    expect(await read()).toMatchObject({ 'sluice.tokens{"limit":"Orders","direction":"taken"}': 1 });
  });
});

describe('wrong use', () => {
  test('options that are missing are rejected', () => {
    expect(() => instrument(limiterOf(), undefined as never)).toThrow('`meterProvider` must be a MeterProvider.');
  });

  test.each([undefined, {}, 7])('a value that is not a meter provider is rejected: %s', (meterProvider) => {
    expect(() => instrument(limiterOf(), { meterProvider: meterProvider as never })).toThrow(
      '`meterProvider` must be a MeterProvider.',
    );
  });

  test('a limiter can be instrumented once with each provider', () => {
    const limiter = limiterOf();
    const [one, other] = [provider(), provider()];
    instrument(limiter, one);
    instrument(limiter, other);
    expect(() => instrument(limiter, one)).toThrow('instrumented already');
  });

  test('what a provider throws is thrown on, and the limiter can be instrumented again', () => {
    const limiter = limiterOf();
    const meterProvider = {
      getMeter: () => {
        throw new Error('no meter');
      },
    };
    expect(() => instrument(limiter, { meterProvider })).toThrow('no meter');
    instrument(limiter, provider());
  });
});

test('a histogram that throws changes neither decisions nor the counters that are read', async () => {
  const { meterProvider, read } = provider();
  const limiter = limiterOf({
    guard: storeGuard,
    run: () => Promise.reject(new Error('down')),
    close: () => undefined,
  });
  let throws = 0;
  const broken: MeterProvider = Object.create(meterProvider);
  broken.getMeter = (name) =>
    Object.assign(Object.create(meterProvider.getMeter(name)) as ReturnType<MeterProvider['getMeter']>, {
      createHistogram: () => ({
        record: () => {
          throws += 1;
          throw new Error('a recorder');
        },
      }),
    });
  instrument(limiter, { meterProvider: broken });
  expect(await limiter.spend(orders)).toMatchObject({ outcome: 'allowed', failure: { policy: 'local' } });
  expect(throws).toBe(1);
  expect(await read()).toMatchObject({ 'sluice.tokens{"limit":"Orders","direction":"taken"}': 1 });
});
