import type { BucketState, CostEntry, Limiter } from '@sluice/core';
import type { BucketName } from '@sluice/core/store';
import type { Call } from '../console/command.ts';
import type { RecordLog } from '../redis/record-log.ts';
import type { BucketSource, CanonicalName } from './bucket-source.ts';
import { OPERATOR_VERSION as version, ServedAt, type BucketCall, type OperatorAnswers } from './served-at.ts';

/**
 * Returns the buckets of a `sluice serve`, which decides by its own files and store.
 *
 * @param address - As of {@link ServedAt}.
 */
export function servedBuckets(call: Call, address: string): BucketSource {
  const service = new ServedAt(call, address);
  const ask = <What extends BucketCall['what']>(
    what: What,
    limit: string,
    id: string,
    cost = 1,
  ): Promise<OperatorAnswers[What]> => service.ask({ version: 1, what, limit, id, cost });
  const change =
    (what: 'charge' | 'refund') =>
    async ([entry]: readonly CostEntry[]): Promise<readonly BucketState[]> =>
      (await ask(what, entry!.limit, entry!.id ?? '', entry!.cost)).states;
  return {
    figures: async ({ limit, id }, cost) => (await ask('look', limit, id, cost)).figures,
    rate: async ({ limit, id }) => (await ask('look', limit, id)).rate,
    limiter: {
      charge: change('charge'),
      refund: change('refund'),
      reset: async ([entry]) => void (await ask('reset', entry!.limit, entry!.id)),
    },
    check: () => {},
  };
}

/** Where blocks are: a store, or a service that has one. */
export type BlockSource = Pick<Limiter, 'block' | 'unblock' | 'blocked'>;

/** The blocks of a service. */
export interface ServedBlocks extends BlockSource {
  /** @throws {SluiceError} `ERR_UNKNOWN_LIMIT` and `ERR_ID`, by the files of the service. */
  readonly named: (name: BucketName) => Promise<CanonicalName>;
}

/**
 * Returns the blocks of the store of a `sluice serve`.
 *
 * @param address - As of {@link ServedAt}.
 */
export function servedBlocks(call: Call, address: string): ServedBlocks {
  const service = new ServedAt(call, address);
  return {
    named: ({ limit, id }) => service.ask({ version, what: 'name', entry: { limit, id } }),
    block: async ([entry]) => {
      const { blocks, isInMemory } = await service.ask({ version, what: 'block', entry: entry! });
      if (isInMemory) call.console.note('The service keeps it in memory, so it ends when the service does.');
      return blocks;
    },
    unblock: async ([entry]) => (await service.ask({ version, what: 'unblock', entry: entry! })).blocks,
    blocked: async (limit) => (await service.ask({ version, what: 'blocked', entry: { limit } })).blocks,
  };
}

/** Returns the log of a `sluice serve` on Redis. */
export function servedLog(call: Call, address: string): Pick<RecordLog, 'check' | 'add' | 'close'> {
  const service = new ServedAt(call, address);
  const add = async (record: string): Promise<void> => void (await service.ask({ version: 1, what: 'record', record }));
  return { check: () => add(''), add, close: () => {} };
}
