import type { LimitDefinition } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { load } from '@sluice/core/load';
import { quota } from '@sluice/core/quota';

/**
 * A limit with options of which a test varies some, and with them the kind: what the function of the kind returns, or the
 * options of a rate.
 */
export function limitOf(options: object): LimitDefinition {
  const given = options as Readonly<Record<string, never>>;
  if ('per' in given) return quota(given as never);
  if ('concurrency' in given) return concurrency(given as never);
  if ('load' in given) return load(given as never);
  return 'borrow' in given ? borrow(given as never) : (given as never);
}
