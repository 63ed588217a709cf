import type { Metric } from '@sluice/core/metrics';
import { expect, test } from 'vitest';
import { WorkerMetrics } from '../src/serve/worker-metrics.ts';

const instrument = { unit: '1', description: '', attributes: [] };
const metrics = (decisions: number, held: number): readonly Metric[] => [
  { ...instrument, name: 'decisions', type: 'counter', samples: [{ attributes: {}, value: decisions }] },
  { ...instrument, name: 'held', type: 'gauge', samples: [{ attributes: {}, value: held }] },
];
const valuesOf = (all: readonly Metric[]) =>
  Object.fromEntries(
    all.map(({ name, samples }) => [name, samples.reduce((sum, { value }) => sum + Number(value), 0)]),
  );

test('the counters of processes that ended stay, their gauges do not, and of each process the last answer counts', () => {
  const all = new WorkerMetrics<string>();
  expect(valuesOf(all.all())).toEqual({});
  all.note('a', metrics(5, 1));
  all.note('b', metrics(7, 2));
  all.note('a', metrics(6, 3));
  expect(valuesOf(all.all())).toEqual({ decisions: 13, held: 5 });
  all.end('a');
  all.end('never answered');
  expect(valuesOf(all.all())).toEqual({ decisions: 13, held: 2 });
  all.note('c', metrics(1, 1));
  all.end('b');
  expect(valuesOf(all.all())).toEqual({ decisions: 14, held: 1 });
  all.end('c');
  expect(valuesOf(all.all())).toEqual({ decisions: 14 });
});
