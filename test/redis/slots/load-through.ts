import { realDelay } from '../../real-delay.ts';
import type { HoldOrders, HoldReport, Span } from '../processes/hold.mjs';
import type { RedisServer } from '../servers/redis-server.ts';
import { endAll, holders, nowMs, type HolderProcess } from './holder-process.ts';
import type { SlotOutcome } from './outcome.ts';
import { freeAfterMs } from './redis-slots.ts';
import { mostInUse } from './spans.ts';

/** Longer than the default: on a busy machine, nothing but the fault should make a policy decide. */
const DEADLINE_MS = 200;
const RECOVERY_MS = 5000;
const HOLD_MS: [number, number] = [5, 50];

/** A load on a limit by several processes, in the middle of which something happens. */
export interface LoadThrough {
  readonly server: HoldOrders['server'];
  /** The servers that have the slots when the load is over. */
  servers(): readonly RedisServer[] | Promise<readonly RedisServer[]>;
  readonly processes: number;
  readonly concurrency: number;
  readonly expiryMs: number;
  readonly ids: readonly string[];
  /** How long the load lasts before and after. */
  readonly aroundMs: number;
  /** Slots that other processes hold all the time. */
  readonly heldByOthers?: number;
  /** What happens. It ends when all is well again. */
  fault(): Promise<void>;
}

/**
 * Runs a load, a fault in the middle of it, and counts the slots in use.
 *
 * The bounds: the server never admits more than the limit at the same time, except that slots which it has lost, or whose
 * slots expired in a long outage, may be taken once more until they are renewed, at most half of an expiry later. A policy
 * admits a request only while its process has less than its part in use. Both together never exceed twice the limit.
 */
export async function loadThrough(setup: LoadThrough): Promise<SlotOutcome> {
  const { concurrency, processes, expiryMs, ids, aroundMs, heldByOthers = 0 } = setup;
  const loaded = await holders(processes, {
    server: setup.server,
    limit: { concurrency, expiry: `${expiryMs}ms` },
    ids: [...ids],
    gateways: processes,
    deadlineMs: DEADLINE_MS,
    workers: Math.ceil((2 * concurrency * ids.length) / processes),
    holdMs: HOLD_MS,
  });
  await Promise.all(loaded.map((holder) => holder.load()));
  await realDelay(aroundMs);
  const beganMs = nowMs();
  await setup.fault();
  const endedMs = nowMs();
  await realDelay(expiryMs / 2 + aroundMs);
  const report = await endAll(loaded);
  const overMs = nowMs();
  const freeWithinMs = expiryMs + 1000;
  const freeMs = await freeAfterMs(() => setup.servers(), {
    sinceMs: overMs,
    withinMs: freeWithinMs,
    held: heldByOthers,
  });
  await Promise.all(loaded.map((holder: HolderProcess) => holder.kill()));
  return outcomeOf(setup, { report, beganMs, endedMs, freeMs, freeWithinMs });
}

interface Seen {
  readonly report: HoldReport;
  readonly beganMs: number;
  readonly endedMs: number;
  readonly freeMs: number | undefined;
  readonly freeWithinMs: number;
}

function outcomeOf(
  { concurrency, processes, expiryMs, heldByOthers = 0 }: LoadThrough,
  { report, beganMs, endedMs, freeMs, freeWithinMs }: Seen,
): SlotOutcome {
  const { spans, errors } = report;
  const room = concurrency - heldByOthers;
  const part = Math.max(1, Math.floor(concurrency / processes));
  const againMs = endedMs + expiryMs / 2 + HOLD_MS[1];
  const byPolicy = spans.filter((span) => span.byPolicy);
  const byServer = spans.filter((span) => !span.byPolicy);
  const before = mostInUse(byServer, -Infinity, beganMs);
  const after = mostInUse(byServer, againMs);
  const beyond = byPolicy.filter(({ own }) => own > part).length;
  const recoveryMs = Math.max(0, ...byPolicy.map(({ fromMs }) => fromMs - endedMs));
  return {
    holds: spans.length,
    byPolicy: byPolicy.length,
    most: mostInUse(spans),
    bound: room + concurrency,
    freeMs,
    freeWithinMs,
    note: `by the server ${before} before, ${after} after, of ${room}; by policy at most ${mostOwn(byPolicy)} of ${part} in each process, until ${recoveryMs.toFixed(0)} ms after the fault`,
    promises: [
      [errors.length === 0, `errors: ${errors[0] ?? ''}`],
      [before <= room, `${before} were in use before the fault, more than ${room}`],
      [after <= room, `${after} were in use after the fault, more than ${room}`],
      [before > room / 2, `the load used only ${before} slots`],
      [beyond === 0, `${beyond} times a process admitted more than its part of ${part} by policy`],
      [recoveryMs <= RECOVERY_MS, `${recoveryMs.toFixed(0)} ms after the fault a policy still decided`],
      [byServer.some(({ fromMs }) => fromMs > againMs), 'the store did not decide again'],
    ],
  };
}

function mostOwn(spans: readonly Span[]): number {
  return Math.max(0, ...spans.map(({ own }) => own));
}
