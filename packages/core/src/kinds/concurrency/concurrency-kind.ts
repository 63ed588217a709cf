import { complaint } from '../../checks/errors.ts';
import { wholeNumber } from '../../checks/options.ts';
import { countingRate, type NumbersKind, type Numbers } from '../../rule/rate.ts';
import { NUMBERS_ALONE } from '../../limits/limit-parts.ts';
import { EXACT_ROW, type OptionRow } from '../../limits/option.ts';
import { SlotBuckets } from '../../store/memory/slot-buckets.ts';
import type { Kind } from '../kind.ts';
import { onceEnded } from './ended-response.ts';
import { checkHasEnd } from './slot-ends.ts';
import { SlotPart } from './slot-part.ts';
import { EXPIRY, MAX_SLOTS, SLOT_SCOPES, slotTermsOf, type Concurrency } from './slot-terms.ts';

/** Another number of slots of a concurrency limit for one id. */
export interface ConcurrencyOverride {
  /** How many requests of cost 1 may be in progress at the same time, a whole number from 1 to 1,000,000. */
  readonly concurrency: number;
}

const REMEDY = 'It is the number of requests in progress, for example concurrency: 10.';
const ROW = {
  about: 'How many requests may be in progress at the same time.',
  value: { type: 'whole number', min: 1, max: MAX_SLOTS, example: '10', remedy: REMEDY },
} as const satisfies OptionRow;

const SLOTS: NumbersKind = {
  name: 'concurrency',
  level: 'held',
  size: 'concurrency',
  unit: 'concurrent-requests',
};

/** At most so many requests of an id are in progress at the same time: slots that are held until a request ends. */
export const CONCURRENCY: Kind<Concurrency, ConcurrencyOverride> = {
  ...SLOTS,
  noun: 'a concurrency limit',
  mark: 'concurrency',
  example: 'concurrency: 10',
  options: {
    exact: EXACT_ROW,
    concurrency: ROW,
    expiry: {
      about: 'The time after which the slots of a process that died are free again, from 1s to 1h. Default: 10s.',
      value: { type: 'duration', range: EXPIRY, examples: ['5s', '10s', '1m'] },
    },
    scope: {
      about: 'Whether all processes that share the store count together, or each process by itself. Default: store.',
      value: { type: 'choice', choices: SLOT_SCOPES, example: 'process' },
    },
  },
  needed: ['concurrency'],
  override: {
    options: { concurrency: ROW },
    needed: ['concurrency'],
    example: '{ concurrency: 20 }',
    rate: rateOf,
  },
  define(options, { where }) {
    const rate = rateOf(where, options);
    const holding = slotTermsOf(where, options);
    return { ...NUMBERS_ALONE, rate, isStored: holding.scope === 'store', holding };
  },
  describe: ({ rate }) => `${rate.count} at the same time`,
  instead: {
    spend: 'Slots have to be released: add the option `hold: true`, and call `release()` of the decision.',
    firstOf: 'Alternatives take tokens only: call `spend` with the entries of one batch and `hold: true`.',
    charge: 'Slots are held and released, and not charged: leave it out.',
    settle: 'Slots are released, and not settled: leave it out.',
    refund:
      'Slots are released with `release()` of the decision that holds them. To free all slots of an id, use `reset`.',
  },
  checkStore(store, { name, isStored }) {
    if (store.traits?.slots === true || !isStored) return;
    throw complaint('ERR_OPTION', {
      option: 'store',
      demand: `a store with the trait \`slots\`, because limit "${name}" is a concurrency limit`,
      value: store,
      remedy:
        "Every store of Sluice has it. For one of your own, see SlotHolding in docs/writing-a-store.md, or use scope: 'process'.",
    });
  },
  bucket: () => ({ slots: true }),
  checkExchange: checkHasEnd,
  provides: { slotTable: () => new SlotBuckets(), onceEnded },
  part: (context) => new SlotPart(context),
};

function rateOf(where: string, { concurrency: most }: ConcurrencyOverride): Numbers {
  return countingRate(SLOTS, wholeNumber(`${where}.concurrency`, most, ROW.value));
}
