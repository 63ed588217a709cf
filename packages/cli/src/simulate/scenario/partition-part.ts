import type { Partition } from '../partition.ts';
import { readPeriod } from './period.ts';
import type { Value } from './value.ts';

/** Reads the partition of a scenario. */
export function readPartition(value: Value | undefined): Partition | undefined {
  if (value === undefined) return undefined;
  const fields = value.fields(['parts', 'from', 'to']);
  const { fromMicros, lengthMicros } = readPeriod(fields, () =>
    value.wrong('a partition with an end', 'For example { parts: 2, from: 2s, to: 8s }.'),
  );
  const parts = fields.get('parts')?.number({ min: 2, max: 10_000 }) ?? 2;
  return { parts, fromMicros, toMicros: fromMicros + lengthMicros };
}
