import type { Answer } from './provider.ts';

/** A window of a peer, from its first request until the first one of the next window. */
export interface Window {
  readonly lastsMs: number;
  readonly answers: readonly Answer[];
}

/** Splits answers into windows: each begins with the first request after the end of the one before. The last one is cut off. */
export function windowsOf(answers: readonly Answer[], windowMs: number): readonly Window[] {
  const starts: number[] = [];
  const sorted = answers.toSorted((one, other) => one.atMs - other.atMs);
  for (const { atMs } of sorted) if (starts.length === 0 || atMs >= starts.at(-1)! + windowMs) starts.push(atMs);
  return starts.map((fromMs, i) => {
    const endMs = starts[i + 1] ?? Infinity;
    return {
      lastsMs: endMs - fromMs,
      answers: sorted.filter(({ atMs }) => atMs >= fromMs && atMs < endMs),
    };
  });
}

/** Which part of a limit was used. */
export interface Share {
  readonly share: number;
  readonly lastsMs: number;
}

/**
 * Returns which part of a limit each whole window has used. A window ends with the first request of the next one, so that
 * the time until that counts as unused.
 */
export function sharesOf(windows: readonly Window[], count: number, windowMs: number): readonly Share[] {
  return windows.slice(0, -1).map(({ answers, lastsMs }) => {
    const passed = answers.filter(hasPassed).length;
    return { share: passed / ((count * lastsMs) / windowMs), lastsMs };
  });
}

/** Returns which part of what comes back into a bucket each whole window has used: all but what comes while it is full. */
export function refilledShares(windows: readonly Window[], count: number, windowMs: number): readonly Share[] {
  let fullAtMs = windows[0]?.answers[0]?.atMs ?? 0;
  return windows.slice(0, -1).map(({ answers, lastsMs }) => {
    let fullMs = 0;
    for (const { atMs } of answers.filter(hasPassed)) {
      fullMs += Math.max(0, atMs - fullAtMs);
      fullAtMs = Math.max(atMs, fullAtMs) + windowMs / count;
    }
    return { share: 1 - fullMs / lastsMs, lastsMs };
  });
}

/** Returns the most denials that one process has had in one of these windows. */
export function mostDenials(windows: readonly Window[]): number {
  const counts = windows.flatMap(({ answers }) => {
    const denied = answers.filter(isDenied).map(({ process }) => process);
    return [...new Set(denied)].map((each) => denied.filter((process) => process === each).length);
  });
  return Math.max(0, ...counts);
}

export function isDenied({ status }: Answer): boolean {
  return status === 429;
}

function hasPassed({ status }: Answer): boolean {
  return status === 200;
}
