import { SluiceError } from '@sluice/core';
import { shown } from '@sluice/core/kit';
import type { Script } from './line.ts';

/** What a script answered. */
export interface ScriptReply {
  /** Whether it did what it was asked; otherwise its time was over when the server got to it. */
  readonly done: boolean;
  readonly nowTicks: number;
  /** `[nowTicks, …]`, as the caller gets it. */
  readonly rest: readonly unknown[];
}

/**
 * Reads `[1 | 0, now in ticks, …]`.
 *
 * @throws {SluiceError} `ERR_STORE_ANSWER` for anything else.
 */
export function readReply(script: Script, reply: unknown): ScriptReply {
  if (!Array.isArray(reply)) throw nonsense(script, reply);
  const [done, nowTicks] = reply as [unknown, number];
  if ((done !== 0 && done !== 1) || !Number.isSafeInteger(nowTicks)) throw nonsense(script, reply);
  // The array is ours: it was made for this reply.
  reply.shift();
  reply[0] = nowTicks;
  return { done: done === 1, nowTicks, rest: reply };
}

/** The error for a reply that no script of ours gives. */
export function nonsense(script: Script, reply: unknown): SluiceError {
  return new SluiceError(
    'ERR_STORE_ANSWER',
    `The script ${script.name} must answer with [1 or 0, now in ticks, …], but answered ${shown(reply)}. ` +
      'Is there something between this process and Redis that changes answers?',
  );
}
