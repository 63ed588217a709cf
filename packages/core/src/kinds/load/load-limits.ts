import type { Awaitable } from '../../async/awaitable.ts';
import { shedDecision } from '../../decision/decide.ts';
import type { Decided } from '../../decision/decided.ts';
import type { Part, PartContext } from '../../decision/part.ts';
import type { DecisionCall, Rest, Stage } from '../../decision/stage.ts';
import type { Batch, Transaction } from '../../decision/transaction.ts';
import type { EventSink } from '../../events/event.ts';
import type { LimitMap } from '../../limits/limit.ts';
import type { LoadSource, LoadUse } from './load-source.ts';
import { canDeny } from '../../store/transaction-rule.ts';
import type { Time } from '../../time/time.ts';

interface UsedSource {
  readonly source: LoadSource;
  readonly use: LoadUse;
}

/** The load limits in effect. They are decided before all others, because they ask no store and take nothing. */
export class LoadLimits implements Part, Stage {
  readonly place = 0;
  readonly stage: Stage = this;
  /** Whether there were ever any: a transaction may be older than a `replace`. Only this class changes it. */
  isActive = false;
  readonly concerns: Stage['concerns'] = isLoad;
  readonly #time: Time;
  readonly #emit: EventSink;
  /** By the name of the limit. */
  readonly #used = new Map<string, UsedSource>();

  constructor({ time, emit }: Pick<PartContext, 'time' | 'emit'>) {
    this.#time = time;
    this.#emit = emit;
  }

  /** Begins to use the sources of a new set of limits, and ends the use of the others. */
  changed(limits: LimitMap): void {
    const ended: LoadUse[] = [];
    for (const [name, { source, use }] of this.#used) {
      const limit = limits.get(name);
      if (limit?.own === source && !limit.disabled) continue;
      ended.push(use);
      this.#used.delete(name);
    }
    for (const { name: limit, kind, own, disabled } of limits.values()) {
      if (kind.level !== 'own' || disabled || this.#used.has(limit)) continue;
      const source = own as LoadSource;
      this.#used.set(limit, { source, use: source.start({ limit, time: this.#time, emit: this.#emit }) });
    }
    // Last, so that a limit with a new name goes on at the level of its source.
    for (const use of ended) use.stop();
    this.isActive ||= this.#used.size > 0;
  }

  /** Ends the use of all sources. */
  close(): void {
    for (const { use } of this.#used.values()) use.stop();
    this.#used.clear();
  }

  /** Denies a batch if a load limit of it does. Otherwise leaves the other limits to the stages that follow. */
  decide(_: DecisionCall, batch: Batch, rest: Rest): Awaitable<Decided> {
    const shed = batch.filter((transaction) => isLoad(transaction) && this.#sheds(transaction));
    if (shed.length === 0) return rest.decide(batch.filter((transaction) => !isLoad(transaction)));
    const waitsMs = shed.map(({ limit, id }) => this.#used.get(limit)!.use.retryAfterMs(id));
    return shedDecision(shed, waitsMs, rest.owner);
  }

  // A transaction of a limit that `replace` has removed meanwhile has no source any more.
  #sheds({ limit, id, share, mode, cost }: Transaction): boolean {
    return canDeny(mode) && cost > 0 && this.#used.get(limit)?.use.sheds(id, share) === true;
  }
}

/** Whether a transaction is of a load limit. */
function isLoad({ rate }: Transaction): boolean {
  return rate.kind.level === 'own';
}
