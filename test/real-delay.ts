import { setTimeout } from 'node:timers/promises';

/**
 * Waits in real time. Only for what no `FakeTime` can move: the clock of a real server, a real network or file system,
 * another process.
 */
export async function realDelay(ms: number): Promise<void> {
  await setTimeout(ms);
}
