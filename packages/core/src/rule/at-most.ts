import { complaint, shownText, SluiceError } from '../checks/errors.ts';
import { entriesOf, isPlainObject } from '../checks/options.ts';
import { durationTicks, type Duration } from './duration.ts';
import { MAX_TOKENS, PERIOD, type Numbers } from './rate.ts';
import { TICKS_PER_MS, TICKS_PER_SECOND } from './ticks.ts';

/** One entry of `atMost`: the most tokens in any window of a length. */
export interface Bound {
  readonly tokens: number;
  readonly windowTicks: number;
  readonly window: Duration;
}

/**
 * Validates the bounds of a limit.
 *
 * @param option - Their path in error messages: `limits.Vendor.atMost`.
 * @throws {SluiceError} `ERR_OPTION` when it is not an object with an entry, or a number of tokens is not a whole
 * number from 1 to 10⁹; `ERR_DURATION` for a window that is not a duration from 1 ms to 366 days.
 */
export function boundsOf(option: string, atMost: unknown): readonly Bound[] {
  if (atMost === undefined) return [];
  const entries = isPlainObject(atMost) ? entriesOf<Duration>(option, atMost as Record<string, Duration>) : [];
  if (entries.length === 0) throw noBounds(option, atMost);
  return entries.map(([tokens, window]) => boundOf(option, tokens, window));
}

function boundOf(option: string, text: string, window: Duration): Bound {
  const tokens = /^[1-9]\d*$/.test(text) ? Number(text) : Infinity;
  if (tokens > MAX_TOKENS) throw noBounds(option, text);
  return { tokens, windowTicks: durationTicks(`${option}.${text}`, window, PERIOD), window };
}

function noBounds(option: string, value: unknown): SluiceError {
  return complaint('ERR_OPTION', {
    option,
    demand: `durations by number of tokens, from 1 to ${MAX_TOKENS}`,
    value,
    remedy: "For at most 1000 tokens in any hour write atMost: { 1000: '1h' }.",
  });
}

/**
 * Returns the most tokens that a limit lets through in a window, charges included. The window includes both its ends: a
 * full bucket gives its burst and its debt at the first moment, and then one token after each T, also at the last
 * moment. No other window has more: tokens raise the level from at least 0 to at most τ + maxDebt × T, and during the
 * window it falls by the length of the window.
 */
function mostInWindow({ burst, emissionIntervalTicks }: Numbers, maxDebt: number, windowTicks: number): number {
  return burst + maxDebt + Math.floor(windowTicks / emissionIntervalTicks);
}

/**
 * Rejects numbers that let more tokens through than a bound allows.
 *
 * @param where - The path of the numbers in error messages: `limits.Vendor`.
 * @param maxDebt - The `maxDebt` of the numbers, or of their limit.
 * @throws {SluiceError} `ERR_LIMIT`, with a burst and a count that satisfy all bounds.
 */
export function checkBounds(where: string, rate: Numbers, maxDebt: number, bounds: readonly Bound[]): void {
  for (const { tokens, windowTicks, window } of bounds) {
    const most = mostInWindow(rate, maxDebt, windowTicks);
    if (most <= tokens) continue;
    const sum = `${rate.burst} at once${maxDebt > 0 ? `, ${maxDebt} of debt` : ''} and ${most - rate.burst - maxDebt} that come back`;
    throw new SluiceError(
      'ERR_LIMIT',
      `must let at most ${tokens} tokens through in any ${shownText(String(window), 80)} because of \`atMost\`, but can let ` +
        `${most} through (${sum}). ${remedyOf(rate, maxDebt, bounds)}`,
      { path: where },
    );
  }
}

// Lowers burst and rate by the same factor, as far as possible.
function remedyOf(rate: Numbers, maxDebt: number, bounds: readonly Bound[]): string {
  const parts = bounds.map(({ tokens, windowTicks }) => tokens / mostInWindow(rate, maxDebt, windowTicks));
  const atOnce = Math.floor((rate.burst + maxDebt) * Math.min(...parts));
  for (const burst of [Math.max(1, atOnce - maxDebt), 1]) {
    const interval = shortestInterval(burst + maxDebt, bounds);
    const count = Math.min(rate.count, Math.floor(Math.round(rate.periodMs * TICKS_PER_MS) / interval));
    if (count >= 1) return `With this period use, for example, burst: ${burst}, count: ${count}.`;
  }
  const seconds = Math.ceil(shortestInterval(1 + maxDebt, bounds) / TICKS_PER_SECOND);
  if (seconds <= PERIOD.maxMs / 1000) return `Use, for example, burst: 1, count: 1, period: '${seconds}s'.`;
  return 'Use a higher number of tokens, a shorter window or a lower maxDebt.';
}

/** Returns the shortest T that satisfies all bounds when so many tokens can pass at once; `Infinity` if none does. */
function shortestInterval(atOnce: number, bounds: readonly Bound[]): number {
  const each = bounds.map(({ tokens, windowTicks }) => {
    const comeBack = tokens - atOnce;
    return comeBack < 0 ? Infinity : Math.floor(windowTicks / (comeBack + 1)) + 1;
  });
  return Math.max(...each);
}
