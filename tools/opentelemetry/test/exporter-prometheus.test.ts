import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { accountId, createLimiter, memoryStore, type Limiter, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { load, loadFrom } from '@sluice/core/load';
import { INSTRUMENTS, metricsText } from '@sluice/core/metrics';
import { createScheduler } from '@sluice/core/scheduler';
import { storeGuard } from '@sluice/core/store';
import { instrument } from '@sluice/opentelemetry';
import { expect, onTestFinished, test } from 'vitest';

const key = accountId();
const DASHBOARD = new URL('../../../docs/metrics/grafana-opentelemetry.json', import.meta.url);
/** Only a store with leases has these. */
const OF_LEASES = 'sluice.lease.';

/** Where the exporter of OpenTelemetry answers Prometheus. */
async function exporterUrl(both: readonly Limiter[]): Promise<string> {
  const exporter = new PrometheusExporter({ preventServerStart: true });
  const meterProvider = new MeterProvider({ readers: [exporter] });
  onTestFinished(() => meterProvider.shutdown());
  for (const limiter of both) instrument(limiter, { meterProvider });
  const server = createServer((request, response) => exporter.getMetricsRequestHandler(request, response));
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const LIMITS = {
  Orders: { key, count: 2, period: '1h' },
  Exports: { key, count: 1, period: '1s', maxWait: '1m' },
} as const;
const OF_MEMORY = {
  InFlight: concurrency({ key, concurrency: 3 }),
  Work: load({ key, load: loadFrom(() => 0) }),
} as const;

/** A limiter on the memory store, and one whose store does not answer at once, so that its decisions have durations. */
function limiters(): readonly [Limiter, Limiter] {
  const inner = memoryStore();
  const slow: Store = { guard: storeGuard, run: async (operation) => inner.run(operation), close: () => inner.close() };
  const ofMemory = createLimiter({ limits: { ...LIMITS, ...OF_MEMORY }, log: false });
  const ofSlow = createLimiter({ limits: LIMITS, store: slow, log: false });
  onTestFinished(() => void Promise.all([ofMemory.close(), ofSlow.close()]));
  return [ofMemory, ofSlow];
}

/** Work that is in progress until it is ended. */
function untilEnded(): { readonly promise: Promise<void>; readonly end: () => void } {
  let end = (): void => undefined;
  const promise = new Promise<void>((resolve) => (end = resolve));
  return { promise, end };
}

/** The lines of a text for Prometheus, without units in names, and without the scope and empty labels, which mean nothing there. */
function linesOf(text: string): readonly string[] {
  return text
    .replaceAll(/(?<=sluice_\w+)_(?:seconds|bytes)/g, '')
    .replaceAll(/\{(.*)\}/g, (_, labels: string) => {
      const telling = labels.split(',').filter((each) => !/^otel_scope_name=|=""$/.test(each));
      return telling.length === 0 ? '' : `{${telling.join(',')}}`;
    })
    .split('\n')
    .filter((line) => /^(?:# TYPE )?sluice_/.test(line))
    .toSorted();
}

test('the exporter of OpenTelemetry for Prometheus writes what metricsText writes, without the units in names', async () => {
  const both = limiters();
  const url = await exporterUrl(both);
  for (const limiter of both) {
    for (let i = 0; i < 3; i++) await limiter.spend([{ limit: 'Orders', id: '7' }]);
    for (let i = 0; i < 2; i++) await limiter.spend([{ limit: 'Exports', id: '7' }]);
    await limiter.charge([{ limit: 'Orders', id: '8', cost: 1 }]);
  }
  const { promise, end } = untilEnded();
  const scheduler = createScheduler(both[0]);
  const work = scheduler.run([{ limit: 'InFlight', id: '7' }], () => promise);
  await Promise.resolve();
  const text = await (await fetch(url)).text();
  for (const { name, type, unit } of INSTRUMENTS.filter((each) => !each.name.startsWith(OF_LEASES))) {
    const exported = `${name.replaceAll('.', '_')}${type === 'counter' ? '_total' : ''}`;
    expect(text).toContain(`# UNIT ${exported} ${unit}\n# TYPE ${exported} ${type}\n${exported}`);
  }
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: { targets: { expr: string }[] }[] };
  const asked = panels.flatMap(({ targets }) => targets.map(({ expr }) => /sluice_\w+/.exec(expr)![0]));
  expect(asked).toHaveLength(INSTRUMENTS.length);
  for (const name of asked.filter((each) => !each.startsWith('sluice_lease_')))
    expect(text).toMatch(new RegExp(`^${name}[{ ]`, 'm'));
  expect(linesOf(text)).toEqual(linesOf(metricsText(...both)));
  end();
  await work;
});
