import type { Limiter } from '@sluice/core';
import { coreOf } from '../../src/limiter/create-limiter.ts';

/** Prepares a limit with a fixed cost and share, like a middleware. */
export function prepareFixedCost(limiter: Limiter<never>, limit: string, cost: number, share = 1): void {
  coreOf(limiter).prepare([{ limit, cost, mode: 'check-and-spend', share }]);
}
