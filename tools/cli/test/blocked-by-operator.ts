import type { Limiter, Store } from '@sluice/core';
import { openService } from '@sluice/serve';
import { until } from '../../../test/redis/servers/until.ts';
import { operate } from '../src/serve/operator.ts';
import { written } from './files.ts';

const TABLES = 'http: { api: { limits: [{ limit: Orders, id: { header: X-Account } }] } }\n';

const BLOCK = { limit: 'Orders', id: 'alice', reason: 'ticket 4711', by: 'mia' };

/** What {@link blockedByOperator} returns on a store that several processes use. */
export const SHARED_BLOCK = {
  made: { status: 200, body: { blocks: [BLOCK], isInMemory: false } },
  listed: { status: 200, body: { blocks: [BLOCK] } },
  ended: { status: 200, body: { blocks: [BLOCK] } },
  left: { status: 200, body: { blocks: [] } },
};

/**
 * Blocks an id by a service on a store until another process knows it, and ends the block until that process knows it.
 *
 * @param neighbour - Of the other process, with the limit `Orders`.
 * @returns What the service has answered.
 */
export async function blockedByOperator(store: Store, neighbour: Limiter): Promise<object> {
  const [limits = '', tables = ''] = written('Orders: { count: 300, period: 3h, idFormat: accountId }\n', TABLES);
  const service = await openService({ limits, tables, store, everyMs: false, log: false });
  const ask = async (what: string, entry: object): Promise<unknown> => {
    const request = { version: 2, what, entry };
    const { status, body } = await operate(request, { service, store, records: undefined, log: () => {} });
    return { status, body: JSON.parse(body) as unknown };
  };
  const isBlocked = async (): Promise<boolean> => (await neighbour.spend([{ limit: 'Orders', id: 'alice' }])).blocked;
  const made = await ask('block', { forMs: 7_200_000, ...BLOCK });
  await until('the neighbour knows it', isBlocked);
  const listed = await ask('blocked', {});
  const ended = await ask('unblock', { limit: 'Orders', id: 'alice' });
  await until('the neighbour knows it', async () => !(await isBlocked()));
  const left = await ask('blocked', {});
  await service.close();
  return { made, listed, ended, left };
}
