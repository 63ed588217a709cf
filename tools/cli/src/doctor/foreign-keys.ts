import type { Time } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';
import { KEYS_OF_A_STEP } from '../redis/listing.ts';
import { logKeyOf } from '../redis/record-log.ts';
import { scannedKeys } from '../redis/scan.ts';
import type { Client } from '../redis/client.ts';
import { Check, type Finding } from './finding.ts';

/** At how many keys it looks at most. */
const MOST_KEYS = 10_000;
/** What buckets are: a number, or a sorted set of slots. The log is a stream. */
const OWN_TYPES = new Set(['string', 'zset', 'none']);

/** Looks for keys of other programs under the prefix of the store. */
export async function foreignKeys(client: Client, prefix: string, time: Time): Promise<Finding> {
  const check = new Check('keys');
  let seen = 0;
  try {
    for await (const keys of scannedKeys(client, { pattern: `${prefix}*`, time, count: KEYS_OF_A_STEP })) {
      const types = await Promise.all(keys.map((key) => client.type(key)));
      const isLog = (key: string, i: number): boolean => types[i] === 'stream' && key === logKeyOf(prefix);
      const foreign = keys.find((key, i) => !OWN_TYPES.has(types[i]!) && !isLog(key, i));
      if (foreign !== undefined) {
        const remedy =
          'Another program uses this prefix: its buckets will be broken. Give the store a `prefix` of its own.';
        return check.wrong(`'${foreign}' is not a bucket`, remedy);
      }
      seen += keys.length;
      if (seen >= MOST_KEYS) break;
    }
  } catch (error) {
    return check.note('not looked at', `The user needs +scan and +type for this alone. ${messageOf(error)}`);
  }
  return check.ok(`${seen} under '${prefix}'${seen >= MOST_KEYS ? ', more were not looked at' : ''}`);
}
