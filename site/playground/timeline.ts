import { MOST_ARRIVALS, type Arrival } from './case.ts';

/** A mistake in a text that the user typed. */
export class TypedMistake extends Error {}

const EXAMPLE = 'For example 0 0.25 1.5x3, in seconds: three requests at 1.5 s.';
const DAY_MS = 86_400_000;

/**
 * Reads a timeline: times in seconds, or dates such as 2026-07-01T12:00:00Z, separated by spaces, commas or lines. `1.5x3`
 * or `1.5×3` means three requests at one time, and `1.5*3` one request with a cost of 3.
 *
 * @throws {TypedMistake} The message says what is wrong.
 */
export function arrivalsOf(text: string): readonly Arrival[] {
  const words = text
    .replaceAll(/\s*([*x×])\s*(?=\d)/gi, '$1')
    .split(/[\s,;]+/)
    .filter((word) => word !== '');
  const read = words.flatMap(arrivalsOfWord);
  if (read.length > MOST_ARRIVALS) throw new TypedMistake(`A timeline has at most ${MOST_ARRIVALS} requests.`);
  const first = words.some(isDate) ? Math.min(...read.map(({ atMs }) => atMs)) : 0;
  const arrivals = read.map(({ atMs, cost }) => ({ atMs: atMs - first, cost })).toSorted((a, b) => a.atMs - b.atMs);
  if ((arrivals.at(-1)?.atMs ?? 0) > DAY_MS) throw new TypedMistake('A timeline lasts at most a day.');
  return arrivals;
}

/** Writes a timeline as {@link arrivalsOf} reads it. */
export function timelineOf(arrivals: readonly Arrival[]): string {
  const words: { word: string; times: number }[] = [];
  for (const { atMs, cost } of arrivals) {
    const word = `${Math.round(atMs) / 1000}${cost === 1 ? '' : `*${cost}`}`;
    const last = words.at(-1);
    if (last?.word === word) last.times++;
    else words.push({ word, times: 1 });
  }
  return words.map(({ word, times }) => (times === 1 ? word : `${word}x${times}`)).join(' ');
}

const WORD = /^(?<time>.+?)(?:\*(?<cost>\d{1,9}))?(?:[x×](?<times>\d{1,3}))?$/i;
const SECONDS = /^\d{1,6}(?:\.\d{1,6})?s?$/;

function arrivalsOfWord(word: string): Arrival[] {
  const { time = '', cost = '1', times = '1' } = WORD.exec(word)?.groups ?? {};
  const atMs = SECONDS.test(time)
    ? Math.round(Number.parseFloat(time) * 1000)
    : isDate(time)
      ? Date.parse(time)
      : Number.NaN;
  if (Number.isNaN(atMs)) throw new TypedMistake(`“${word.slice(0, 40)}” is not a time. ${EXAMPLE}`);
  return Array.from({ length: Number(times) }, () => ({ atMs, cost: Number(cost) }));
}

function isDate(word: string): boolean {
  return /^\d{4}-\d\d-\d\dT/.test(word);
}
