import { messageOf } from '@sluice/core/kit';
import type { Time } from '@sluice/core';
import { Cluster, type Redis } from 'ioredis';
import { CommandError } from '../console/failure.ts';
import type { Client } from './client.ts';

/** What to scan. */
export interface ScanOptions {
  /** The pattern of the keys, as SCAN takes it. */
  readonly pattern: string;
  readonly time: Time;
  /** About how many keys a server looks at in one step. */
  readonly count: number;
}

/**
 * Lists the keys of a server, or of all primaries of a cluster, in small steps. After each step it waits for as long as
 * the step took, so that it uses at most half of the time of a server. A key may be listed more than once, and a step without a
 * key that matches lists none.
 *
 * @throws {CommandError} If a server does not answer, or does not permit SCAN.
 */
export async function* scannedKeys(client: Client, options: ScanOptions): AsyncGenerator<readonly string[]> {
  try {
    if (client.status === 'wait') await client.connect();
    for (const node of client instanceof Cluster ? client.nodes('master') : [client]) {
      yield* keysOfNode(node, options);
    }
  } catch (error) {
    throw scanFailed(error);
  }
}

async function* keysOfNode(node: Redis, { pattern, time, count }: ScanOptions): AsyncGenerator<readonly string[]> {
  let cursor = '0';
  do {
    const startMicros = time.nowMicros();
    const [next, keys] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', count);
    const tookMs = (time.nowMicros() - startMicros) / 1000;
    yield keys;
    cursor = next;
    await new Promise<void>((resolve) => time.alarm(Math.max(1, tookMs), resolve));
  } while (cursor !== '0');
}

function scanFailed(error: unknown): CommandError {
  const remedy = 'Check the server, or give the user the permission +scan.';
  return new CommandError(`Redis could not list its keys (SCAN): ${messageOf(error)}. ${remedy}`);
}
