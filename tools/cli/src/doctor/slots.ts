import { messageOf } from '@sluice/core/kit';
import type { Redis } from 'ioredis';
import { Check, type Finding } from './finding.ts';

const SLOTS = 16_384;

/** Looks whether the cluster of a node serves all slots. */
export async function slots(node: Redis): Promise<Finding> {
  const check = new Check('slots');
  try {
    const info = await node.cluster('INFO');
    const served = Number(/cluster_slots_ok:(\d+)/.exec(info)?.[1]);
    if (served === SLOTS && info.includes('cluster_state:ok')) return check.ok('all are served');
    const remedy =
      'Ids in the others are decided by policy, and all are without `cluster-require-full-coverage no`. Start their primary, or give them one.';
    return check.wrong(`${served} of ${SLOTS} are served`, remedy);
  } catch (error) {
    return check.note(`not known: ${messageOf(error)}`);
  }
}
