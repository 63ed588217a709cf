import type { BucketTable } from '../../../src/store/memory/bucket-table.ts';
import { LimitTables } from '../../../src/store/memory/limit-tables.ts';
import { numbersFrom } from './numbers.ts';

/** The two words of a bucket's hash. */
export type Hash = readonly [low: number, high: number];

export function hashes(count: number, seed: number): Hash[] {
  const random = numbersFrom(seed);
  return Array.from({ length: count }, () => [(random() * 2 ** 32) | 1, (random() * 2 ** 32) | 0] as const);
}

/** Tables of limits, all of whose buckets have the same TAT. */
export function tablesOf(limits: Readonly<Record<string, readonly Hash[]>>, tat: number, now: number): LimitTables {
  const tables = new LimitTables();
  for (const [limit, buckets] of Object.entries(limits)) putAll(tables.create(limit), buckets, tat, now);
  return tables;
}

export function putAll(table: BucketTable, buckets: readonly Hash[], tat: number, now: number): void {
  for (const [low, high] of buckets) table.put(low, high, tat, now);
}
