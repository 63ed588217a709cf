import type { LimiterEvent } from '@sluice/core';
import { once } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import { answerOf } from '../../redis/processes/answering-process.ts';
import { run } from '../../redis/processes/run.ts';
import type { ServiceOrders } from '../../redis/processes/service.ts';

type Where = Omit<ServiceOrders, 'count'>;

/** Starts a service in a process of its own. Returns its events when it is ready. */
async function service(where: Where, count: number): Promise<LimiterEvent[]> {
  const child = run('service.ts', [JSON.stringify({ ...where, count })]);
  onTestFinished(async () => {
    child.send('end');
    await once(child, 'exit');
  });
  return answerOf<LimiterEvent[]>(child);
}

/** Two processes name a limit alike on one store; a third has equal numbers; a fourth has what `apart` says. */
export async function findsAnotherService(where: Where, remedy: string, apart?: Where): Promise<void> {
  expect(await service(where, 100)).toEqual([]);
  const found = {
    type: 'other-numbers',
    level: 'info',
    limit: 'Requests',
    here: '5 per 1 h, burst 5',
    there: '100 per 1 h, burst 100',
    message: expect.stringContaining(`give each store ${remedy}.`),
  };
  expect(await service(where, 5)).toEqual([expect.objectContaining(found)]);
  if (apart !== undefined) expect(await service(apart, 7)).toEqual([]);
}
