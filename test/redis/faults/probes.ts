import { PROBE } from './gateway.ts';
import type { Answered } from './load.ts';
import type { Scene } from './scene.ts';

const EPOCH_MS = Date.UTC(2026, 0, 1);
const TICKS_PER_MS = 16_000;
const INTERVAL_MS = PROBE.periodMs / PROBE.count;

/** What the server did for one probe, read from the bucket that it left. */
export interface Charged {
  /** How often it was charged. */
  readonly times: number;
  /** When it was charged first, in milliseconds after the limiter asked for it. */
  readonly afterMs: number;
}

/**
 * Asks the server itself when it charged each probe. The TAT that it left in an empty bucket is the moment of the
 * charge by the server's own clock, plus one emission interval for each time that it charged.
 */
export async function charges({ server }: Scene, answers: readonly Answered[]): Promise<Charged[]> {
  const keys = await server.call<string[]>('KEYS', '*:probe-*');
  if (keys.length === 0) return [];
  const tats = await server.call<string[]>('MGET', ...keys);
  const byAccount = new Map(answers.map((answer) => [answer.account, answer]));
  return keys.map((key, index) => {
    const { calledMs = 0 } = byAccount.get(key.slice(key.lastIndexOf(':') + 1))!;
    // The last three digits are no part of the TAT: see decide.lua.
    const tatTicks = Number(tats[index]!.slice(0, -3));
    const aheadMs = tatTicks / TICKS_PER_MS + EPOCH_MS - calledMs;
    const times = Math.max(1, Math.floor((aheadMs + INTERVAL_MS / 2) / INTERVAL_MS));
    return { times, afterMs: aheadMs - times * INTERVAL_MS };
  });
}
