import { checkLimits, loadWithoutKeys, type LimitSource, type Problem } from '@sluice/config';
import { contentsOf, Problems, problemsOf, sourceOf } from '@sluice/config/kit';
import type { IdFormat } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';
import { checkTables } from '../tables/check-tables.ts';
import { readTables } from '../tables/read-tables.ts';

/** The options of {@link checkTableFiles}. */
export interface CheckTableOptions {
  readonly limits: LimitSource;
  readonly tables: LimitSource;
  readonly formats?: readonly IdFormat[] | undefined;
  readonly maxBytes?: number | undefined;
}

const MAX_TABLE_BYTES = 262_144;

/**
 * Validates a file of tables with its limits, for example in a CI pipeline.
 *
 * @returns The problems of the tables, by line. Problems of the limits are left out: `checkLimits` returns them.
 */
export async function checkTableFiles({
  limits,
  tables,
  formats = [],
  maxBytes,
}: CheckTableOptions): Promise<readonly Problem[]> {
  const source = sourceOf('tables', tables);
  const problems = new Problems();
  const [content] = await contentsOf([source], { maxBytes: MAX_TABLE_BYTES, timeMs: 60_000, time: systemTime });
  const read = readTables(content!, problems);
  const ofLimits = await checkLimits({ defaults: limits, formats, maxBytes });
  if (problems.count === 0 && ofLimits.length === 0) {
    checkTables(read, (await loadWithoutKeys({ defaults: limits, formats, maxBytes })).limits, problems);
  }
  return problemsOf(source.label, problems);
}
