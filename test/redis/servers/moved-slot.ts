import type { RedisCluster } from './redis-cluster.ts';

/** Gives a slot to another primary. `inTheMiddle` runs while the slot is on its way, and may move keys by `moveKeys`. */
export async function moveSlot(
  cluster: RedisCluster,
  slot: number,
  inTheMiddle: (moveKeys: (...keys: readonly string[]) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const from = await cluster.primaryOf(slot);
  const primaries = await Promise.all([0, 6000, 12_000].map((each) => cluster.primaryOf(each)));
  const to = primaries.find((node) => node !== from)!;
  const [fromId, toId] = await Promise.all([cluster.idOf(from), cluster.idOf(to)]);
  const moveKeys = (...keys: readonly string[]): Promise<unknown> =>
    from.call('MIGRATE', to.host, to.port, '', 0, 1000, 'KEYS', ...keys);
  await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
  await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
  await inTheMiddle(moveKeys);
  const keys = await from.call<string[]>('CLUSTER', 'GETKEYSINSLOT', slot, 100);
  if (keys.length > 0) await moveKeys(...keys);
  await to.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  await from.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
}
