import { MAX_TOKENS, MAX_TOLERANCE_TICKS } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';

/** A rate as a limits file has it. */
export interface SuggestedRate {
  readonly count: number;
  readonly period: '1s' | '1m' | '1h';
}

/** A rate with a burst. */
export interface RateAndBurst extends SuggestedRate {
  readonly burst: number;
}

const PERIOD_SECONDS = { '1s': 1, '1m': 60, '1h': 3600 } as const;

/** Numbers that people choose, up to 10. */
const ROUND = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];

/** Returns a rate in requests per second. */
export function perSecond({ count, period }: SuggestedRate): number {
  return count / PERIOD_SECONDS[period];
}

/** Returns the time between two requests, as a limit does: see `rateOf` of the core. */
export function intervalTicks({ count, period }: SuggestedRate): number {
  return Math.floor((PERIOD_SECONDS[period] * 1_000_000 * TICKS_PER_MICRO) / count);
}

/** Returns the largest burst that a limit with a rate can have. */
export function largestBurst(rate: SuggestedRate): number {
  return Math.min(MAX_TOKENS, Math.floor(MAX_TOLERANCE_TICKS / intervalTicks(rate)));
}

/** Rates of which each is twice the one before: from one request in an hour to 4096 per second. */
export function coarseRates(): SuggestedRate[] {
  const hourly = [1, 2, 4, 7, 15, 30].map((count): SuggestedRate => ({ count, period: '1h' }));
  const byMinute = [1, 2, 4, 7, 15, 30].map((count): SuggestedRate => ({ count, period: '1m' }));
  const bySecond = Array.from({ length: 13 }, (_, i): SuggestedRate => ({ count: 2 ** i, period: '1s' }));
  return [...hourly, ...byMinute, ...bySecond];
}

/** Rates with round numbers, from one rate per second to another, in ascending order. */
export function roundRates(from: number, to: number): SuggestedRate[] {
  const rates: SuggestedRate[] = [];
  for (const period of ['1h', '1m', '1s'] as const) {
    // From 1 per minute on, a rate is written per minute, and from 1 per second on per second.
    const [first, last] = period === '1s' ? [1, 1e6] : [1, 59.999];
    for (let power = 1; power <= last; power *= 10) {
      for (const digit of ROUND) {
        const count = digit * power;
        if (!Number.isInteger(count) || count < first || count > last) continue;
        const rate = { count, period };
        if (perSecond(rate) >= from && perSecond(rate) <= to) rates.push(rate);
      }
    }
  }
  return rates;
}

/** Rounds a burst up: to 5 from 20 on, to 50 from 200 on, and so on. */
export function roundBurst(burst: number): number {
  const unit = burst <= 20 ? 1 : 5 * 10 ** Math.floor(Math.log10(burst / 20));
  return Math.ceil(burst / unit) * unit;
}
