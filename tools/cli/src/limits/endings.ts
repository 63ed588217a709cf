import { overrideEndings, type OverrideEnding } from '@sluice/config';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { sourcesOf } from './files.ts';

export type { OverrideEnding } from '@sluice/config';

const HOUR_MS = 3_600_000;
const UNITS_MS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 168 * HOUR_MS };

/** `sluice check` warns of overrides so long before they end. */
const WARNED_MS = 14 * UNITS_MS['d']!;

/** Returns the overrides of a file that end within a time from now, and those that have ended. */
export async function endingsOf(
  files: { readonly limits: string; readonly overrides: string },
  call: Call,
  withinMs: number = Infinity,
): Promise<readonly OverrideEnding[]> {
  const endings = await overrideEndings(await sourcesOf(files, call));
  const latestMs = call.console.time.wallNow() + withinMs;
  return endings.filter(({ endMs }) => endMs <= latestMs);
}

/** Returns a line for each override of files that has ended, or ends within 14 days. */
export async function endingWarnings(words: readonly string[], call: Call): Promise<readonly string[]> {
  const [limits = '', ...overrides] = words;
  const lines: string[] = [];
  for (const file of overrides) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const endings = await endingsOf({ limits, overrides: file }, call, WARNED_MS);
    lines.push(...endings.map((ending) => `${ending.place}: ${endingText(ending, call)}`));
  }
  return lines;
}

/** `Orders ends 2027-01-31 (in 12 days): 12345678 and 3 more`. */
export function endingText({ limit, ids, until, endMs }: OverrideEnding, { console }: Call): string {
  const leftMs = endMs - console.time.wallNow();
  const [verb, when] =
    leftMs > 0 ? ['ends', `in ${spanText(leftMs)}`] : ['has ended', `${spanText(-leftMs)} ago; remove it`];
  const more = ids.length > 1 ? ` and ${ids.length - 1} more` : '';
  return `${limit} ${verb} ${until} (${when}): ${ids[0] ?? 'no ids'}${more}`;
}

function spanText(ms: number): string {
  const days = Math.floor(ms / UNITS_MS['d']!);
  if (days > 1) return `${days} days`;
  const hours = Math.floor(ms / HOUR_MS);
  return hours < 1 ? 'less than an hour' : `${hours} h`;
}

/**
 * Returns the milliseconds of `--ending`: `30d`, `12h`, `2w`; infinite if it is not given.
 *
 * @throws {UsageError} If it is another text.
 */
export function endingWithinMs(call: Call): number {
  const text = call.text('ending');
  if (text === undefined) return Infinity;
  const [, amount, unit] = /^([1-9]\d{0,3})([hdw])$/.exec(text) ?? [];
  if (amount !== undefined) return Number(amount) * UNITS_MS[unit!]!;
  throw new UsageError(
    `\`--ending\` must be hours, days or weeks from 1h to 9999w, but was '${text}'. For example --ending 30d.`,
  );
}
