/**
 * Budgets for language models: requests, tokens, calls in progress and money, decided together before each call and
 * settled by what it has used.
 *
 * @module
 */
export { BudgetExceededError } from './budget-exceeded-error.ts';
