import type { Limiter } from '@sluice/core';
import { coreOf } from '../../src/limiter/create-limiter.ts';

/** Prepares a limit with a cost and a fixed share, like a middleware. */
export function prepareCost(limiter: Limiter<never>, limit: string, cost: number | (() => number), share = 1): void {
  coreOf(limiter).prepare([{ limit, cost, mode: 'check-and-spend', share }]);
}
