import { createHash } from 'node:crypto';
import { decideLua } from './decide-lua.ts';
import type { Script } from '../client/script-client.ts';

/** The only script of this store. It executes batches of all kinds, in order. */
export const decideScript: Script = {
  name: 'decide',
  source: decideLua,
  sha1: createHash('sha1').update(decideLua).digest('hex'),
};
