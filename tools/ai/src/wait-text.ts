const UNITS = [
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A wait in words, rounded up: in seconds below two minutes, in minutes below two hours. */
export function waitText(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms >= 2 * each) ?? ['second', 1000];
  const count = Math.ceil(ms / unitMs);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
