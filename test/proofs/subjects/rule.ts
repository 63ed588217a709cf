/**
 * The parts of the core that theorems about one bucket execute. If they move, only this file changes.
 *
 * @module
 */
import { levelOf } from '../../../packages/core/src/rule/gcra.ts';
import { levelAfter, levelAfterRefund, passes } from '../../../packages/core/src/store/transaction-rule.ts';

export { ceilToMs } from '../../../packages/core/src/rule/ticks.ts';
export {
  charged,
  fits,
  levelOf,
  remainingTokens,
  restrictedLevel,
  shareOf,
  waitFor,
  waitForNextToken,
  wholeShareOf,
} from '../../../packages/core/src/rule/gcra.ts';

export const MODES = ['check-and-spend', 'check-only', 'spend-only', 'charge'] as const;
export type Mode = (typeof MODES)[number];

/** What is asked of one bucket. */
export interface Ask {
  readonly mode: Mode;
  readonly incrementTicks: number;
  readonly fitTicks: number;
  readonly capTicks: number;
}

/** What a bucket was, and is after a call. */
export interface Step {
  readonly passed: boolean;
  readonly before: number;
  readonly after: number;
  readonly tat: number;
}

/** One transaction alone, as a store executes it: TAT in, TAT out. */
export function spendAt(tat: number, now: number, ask: Ask): Step {
  const transaction = { limit: 'Limit', id: 'id', ...ask };
  const before = levelOf(tat, now);
  const passed = passes([transaction], [before]);
  const after = passed ? levelAfter(transaction, before) : before;
  return { passed, before, after, tat: after === before ? tat : now + after };
}

/** A refund as a store executes it. */
export interface RefundAsk {
  readonly incrementTicks: number;
  readonly tatAfterSpendTicks?: number | undefined;
  readonly lineTicks?: number | undefined;
}

export function refundAt(tat: number, now: number, ask: RefundAsk): Step {
  const before = levelOf(tat, now);
  const after = levelAfterRefund({ limit: 'Limit', id: 'id', ...ask }, before, now);
  return { passed: true, before, after, tat: after === before ? tat : now + after };
}
