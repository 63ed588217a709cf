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

/** What services emit that each name a limit of their own `Requests`: two at one place, of 100 and 5, and one apart. */
export async function eventsOfServices(where: Where, apart: Where): Promise<LimiterEvent[][]> {
  return [await service(where, 100), await service(where, 5), await service(apart, 7)];
}

/** What they must emit: the second one has found the first. */
export function expected(remedy: string): unknown {
  const found = {
    type: 'other-numbers',
    level: 'info',
    limit: 'Requests',
    here: '5 per 1 h, burst 5',
    there: '100 per 1 h, burst 100',
    message: expect.stringContaining(`give each store ${remedy}.`),
  };
  return [[], [expect.objectContaining(found)], []];
}
