import type { Server } from 'node:http';
import type { Numbers } from './numbers.mjs';

/** A framework that says hello, behind one limiter or none. */
export interface Framework {
  /** Those that it can stand behind. The first is none. */
  readonly limiters: readonly string[];
  server(limiter: string, numbers: Numbers): Promise<Server>;
}
