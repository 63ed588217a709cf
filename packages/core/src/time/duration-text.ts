/** The units from the largest to the smallest, in milliseconds. */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** Returns a duration for people, without rounding: `3 h`, `1 h 30 min`, `1 s 500 ms`. */
export function durationText(ms: number): string {
  const parts: string[] = [];
  let restMs = ms;
  for (const [name, unitMs] of UNITS) {
    const whole = Math.floor(restMs / unitMs);
    restMs -= whole * unitMs;
    if (whole > 0) parts.push(`${whole} ${name}`);
  }
  if (restMs > 0 || parts.length === 0) parts.push(`${restMs} ms`);
  return parts.join(' ');
}

/** Returns how long to wait, in at most two units. It is rounded up, so that nobody comes too early. */
export function waitText(seconds: number): string {
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  const [, unitMs] = UNITS.find(([, each]) => 1000 * seconds >= each)!;
  const smallMs = UNITS[UNITS.findIndex(([, each]) => each === unitMs) + 1]![1];
  return durationText(Math.ceil((1000 * seconds) / smallMs) * smallMs);
}
