import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { running } from '../../../../../test/redis/servers/running.ts';
import { until } from '../../../../../test/redis/servers/until.ts';
import { openLine } from '../../../src/line/open-line.ts';
import type { Line, LineOptions, RedisClient, Script, ScriptCall } from '../../../src/line/line.ts';
import { add, echo, record } from './scripts.ts';

/** Both versions of ioredis that a user may have. */
export const VERSIONS = [
  { version: 'ioredis 6', Redis, Cluster },
  { version: 'ioredis 5', Redis: Redis5, Cluster: Cluster5 },
] as const;

/** Opens a line that ends with the test. */
export function lineTo(options: Partial<LineOptions>): Line {
  const line = openLine({ scripts: [echo, add, record], ...options });
  running.add({ close: () => line.close() });
  return line;
}

/** A client as a user makes it; it ends with the test. */
export function ended<T extends { disconnect(): void; on(event: 'error', hear: () => void): unknown }>(client: T): T {
  client.on('error', () => {});
  running.add({ close: async () => client.disconnect() });
  return client;
}

/** A user's client that says what was sent on it: nothing may be. */
export type UserClient = RedisClient & { status: string };

/** Waits until scripts can be run. */
export async function isUp(line: Line): Promise<void> {
  await until('the line is up', () => line.status().state === 'up', { everyMs: 2 });
}

/** A call as the store makes it. */
export function call(script: Script, over: Partial<ScriptCall> = {}): ScriptCall {
  return { script, keys: ['key'], args: [], deadlineMs: 1000, ...over };
}
