import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Script } from './line/line.ts';

const source = readFileSync(new URL('../lua/decide.lua', import.meta.url), 'utf8');

/** The one script of this store: it decides batches of every kind of call, in order. */
export const decideScript: Script = {
  name: 'decide',
  source,
  sha1: createHash('sha1').update(source).digest('hex'),
};
