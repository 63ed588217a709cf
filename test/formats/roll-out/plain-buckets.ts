import type { Bucket, Holding, Step, Taking } from './steps.ts';

/**
 * The buckets of a roll-out, as plain counters: in its time no token comes back, no period ends and no slot expires, so that
 * the exact rule is to add and to compare.
 */
export class PlainBuckets {
  readonly #tokens = new Map<string, number>();
  /** The slots of each bucket, as `<holder>:<number>`. */
  readonly #slots = new Map<string, Set<string>>();

  /** How many tokens or slots are taken. */
  levelOf(bucket: Bucket): number {
    const key = keyOf(bucket);
    return bucket.limit === 'Slots' ? (this.#slots.get(key)?.size ?? 0) : (this.#tokens.get(key) ?? 0);
  }

  /** Executes a step. Returns the alternative that passes, or −1; undefined where nothing is decided. */
  run(step: Step): number | undefined {
    if ('alternatives' in step) return this.#decide(step.kind, step.alternatives);
    const level = this.levelOf(step);
    if (step.kind === 'reset') this.#slots.delete(keyOf(step));
    if ('holder' in step) this.#hold(step, step.kind === 'renew');
    else if (step.kind === 'reset') this.#set(step, 0);
    else if (step.kind === 'charge') this.#set(step, charged(level, step));
    else if (step.kind === 'refund') this.#set(step, Math.max(0, level - step.count));
    else this.#set(step, Math.min(level, step.most));
    return undefined;
  }

  #decide(kind: 'spend' | 'check', alternatives: readonly (readonly Taking[])[]): number {
    const passed = alternatives.findIndex((batch) => batch.every((each) => !denies(each) || this.#fits(each)));
    if (kind === 'spend') for (const each of alternatives[passed] ?? []) this.#take(each);
    return passed;
  }

  #fits(taking: Taking): boolean {
    return taking.count === 0 || this.levelOf(taking) + taking.count <= taking.most;
  }

  #take(taking: Taking): void {
    const { limit, count, mode } = taking;
    if (mode === 'check-only' || count === 0 || (mode !== 'charge' && !this.#fits(taking))) return;
    const level = this.levelOf(taking);
    if (limit === 'Slots') this.#hold({ ...taking, first: 1 }, true);
    else this.#set(taking, mode === 'charge' ? charged(level, taking) : level + count);
  }

  #hold({ holder, first, count, ...bucket }: Holding, isHeld: boolean): void {
    const slots = this.#slots.get(keyOf(bucket)) ?? new Set();
    this.#slots.set(keyOf(bucket), slots);
    for (let slot = first; slot < first + count; slot++) {
      if (isHeld) slots.add(`${holder}:${slot}`);
      else slots.delete(`${holder}:${slot}`);
    }
  }

  #set(bucket: Bucket, tokens: number): void {
    this.#tokens.set(keyOf(bucket), tokens);
  }
}

function denies({ mode }: Taking): boolean {
  return mode === 'check-and-spend' || mode === 'check-only';
}

function charged(level: number, { count, most }: { readonly count: number; readonly most: number }): number {
  return Math.max(level, Math.min(level + count, most));
}

function keyOf({ limit, id }: Bucket): string {
  return `${limit}:${id}`;
}
