/**
 * Budgets for language models: requests, tokens, calls in progress and money, decided together before each call and
 * settled by what it has used.
 *
 * @module
 */
export { around, type AroundOptions } from './around.ts';
export { budget, type BudgetMiddleware } from './budget.ts';
export { BudgetExceededError } from './budget-exceeded-error.ts';
export type { BudgetOptions, CostOfCall, IdOfCall, LimitsOfCalls } from './budget-options.ts';
export type { CallParams } from './call-params.ts';
export type { Estimate } from './estimate.ts';
export {
  limitTools,
  type CostOfTool,
  type LimitToolsOptions,
  type ToolCall,
  type ToolContext,
  type ToolServer,
} from './limit-tools.ts';
export type { TurnOptions } from './turns.ts';
export type { Usage } from './usage.ts';
export { usageOf, type Used, type UsageOf } from './usage-of.ts';
export type { Weights } from './weights.ts';
