import type { CalendarUnit } from '@sluice/core';
import { countText } from '../console/count-text.ts';
import { durationText } from '../console/duration-text.ts';
import type { Kind } from './limit-kind.ts';

/** The numbers of a limit or of an override. */
export interface KindAndNumbers {
  readonly kind: Kind;
  readonly burst: number;
  readonly count: number;
  /** Of a rate. */
  readonly periodMs: number;
  /** The calendar period of a quota; null for others. */
  readonly per: CalendarUnit | null;
}

const SINGLE = new Map([
  ['1 s', 'second'],
  ['1 min', 'minute'],
  ['1 h', 'hour'],
  ['1 d', 'day'],
]);

/** Returns numbers as text: `60 per minute, burst 20`. */
export function numbersText({ kind, burst, count, periodMs, per }: KindAndNumbers): string {
  if (kind === 'load') return 'the load of each process';
  if (kind === 'concurrency') return `${countText(burst)} at the same time`;
  if (kind === 'quota') return `${countText(count)} per calendar ${per}`;
  const period = durationText(periodMs);
  return `${countText(count)} per ${SINGLE.get(period) ?? period}, burst ${countText(burst)}`;
}
