import { createHash } from 'node:crypto';
import { decideLua } from './decide-lua.ts';
import type { Script } from './line/line.ts';

/** The one script of this store: it decides batches of every kind of call, in order. */
export const decideScript: Script = {
  name: 'decide',
  source: decideLua,
  sha1: createHash('sha1').update(decideLua).digest('hex'),
};
