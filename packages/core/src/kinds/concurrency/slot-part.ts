import type { Part, PartContext } from '../../decision/part.ts';
import type { Store, StoreBucket } from '../../store/store.ts';
import { heldBucketsOf, HeldSlots } from './held-slots.ts';
import { LocalStore } from './local-store.ts';
import { SlotStage } from './slot-stage.ts';

/** What concurrency limits need of a limiter: the slots that it holds. */
export class SlotPart implements Part {
  readonly place = 1;
  readonly stage: SlotStage;
  readonly #held: HeldSlots;
  #local: { readonly tokens: Store; readonly store: Store } | undefined;

  constructor({ store, time, emit, renew, release }: PartContext) {
    this.#held = new HeldSlots({ buckets: heldBucketsOf(store), time, renew, release });
    this.stage = new SlotStage({ held: this.#held, store, emit });
  }

  localStore(tokens: Store): Store {
    if (this.#local?.tokens === tokens) return this.#local.store;
    const store = new LocalStore(tokens, (one) => this.#held.levelFor(one, one.holding?.holder));
    this.#local = { tokens, store };
    return store;
  }

  heldByLimit(): ReadonlyMap<string, number> {
    return this.#held.countsByLimit();
  }

  reset(buckets: readonly StoreBucket[]): void {
    for (const bucket of buckets) if (bucket.slots) this.#held.forget(bucket);
  }

  /** Releases all slots. */
  close(): void {
    this.#held.close();
  }
}
