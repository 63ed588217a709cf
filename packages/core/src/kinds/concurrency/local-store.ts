import { joinedReading, readUntilPassed } from '../../store/alternatives.ts';
import type {
  Store,
  StoreBucket,
  StoreReading,
  StoreTransaction,
  DecidingOperation,
  StoreOperation,
} from '../../store/store.ts';
import { passes } from '../../store/transaction-rule.ts';

/** Returns the slots of a bucket that this process holds, without those of the transaction itself. */
type SlotLevel = (transaction: StoreTransaction) => number;

type StoreBatch = readonly StoreTransaction[];

/**
 * The store of the policy `local` with concurrency limits: tokens are in another one, which answers at once, and slots are
 * those that this process holds, also since before the outage.
 */
export class LocalStore implements Store {
  readonly #tokens: Store;
  readonly #slotLevel: SlotLevel;

  constructor(tokens: Store, slotLevel: SlotLevel) {
    this.#tokens = tokens;
    this.#slotLevel = slotLevel;
  }

  run(operation: StoreOperation): StoreReading {
    if ('alternatives' in operation) return this.#decide(operation);
    if (operation.kind !== 'reset') return this.#tokens.run(operation) as StoreReading;
    return this.#tokens.run({ kind: 'reset', batch: operation.batch.filter(hasTokens) }) as StoreReading;
  }

  close(): void {
    void this.#tokens.close();
  }

  #decide(operation: DecidingOperation): StoreReading {
    const { kind, alternatives } = operation;
    if (!alternatives.some((batch) => batch.some(hasSlots))) return this.#tokens.run(operation) as StoreReading;
    return joinedReading(readUntilPassed(alternatives, (batch) => this.#decideOne(kind, batch)));
  }

  #decideOne(kind: 'spend' | 'check', batch: StoreBatch): StoreReading {
    // Read once: what decides is what the caller is told.
    const held = batch.map((one) => (hasSlots(one) ? this.#slotLevel(one) : 0));
    const slots = batch.filter(hasSlots);
    const fit = passes(
      slots,
      held.filter((_, i) => hasSlots(batch[i]!)),
    );
    const tokens = batch.filter(hasTokens);
    const reading = this.#tokens.run({ kind: fit ? kind : 'check', alternatives: [tokens] }) as StoreReading;
    const { passed, nowTicks, levelsTicks, bucketNowTicks, bucketWallMs } = reading;
    const places = placesOfTokens(batch);
    return {
      passed: fit ? passed : -1,
      nowTicks,
      levelsTicks: batch.map((one, i) => (hasSlots(one) ? held[i]! : levelsTicks[places[i]!]!)),
      ...(bucketNowTicks && { bucketNowTicks: places.map((place) => bucketNowTicks[place] ?? nowTicks) }),
      ...(bucketWallMs && { bucketWallMs: places.map((place) => bucketWallMs[place]) }),
    };
  }
}

function hasSlots({ slots }: StoreBucket): boolean {
  return slots === true;
}

function hasTokens(bucket: StoreBucket): boolean {
  return !hasSlots(bucket);
}

/** Returns the place of each transaction among those of tokens; −1 for slots. */
function placesOfTokens(batch: StoreBatch): readonly number[] {
  let next = 0;
  return batch.map((one) => (hasSlots(one) ? -1 : next++));
}
