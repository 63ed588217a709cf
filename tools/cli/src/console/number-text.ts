/** Returns a count for people: `12,345`. */
export function countText(value: number): string {
  return value.toLocaleString('en');
}

/** The units from one minute on, with the next smaller one and how many of those it has. */
const UNITS = [
  { ms: 86_400_000, name: 'd', small: 'h', smallMs: 3_600_000 },
  { ms: 3_600_000, name: 'h', small: 'min', smallMs: 60_000 },
  { ms: 60_000, name: 'min', small: 's', smallMs: 1000 },
] as const;

/** Returns a duration for people, with at most two units: `2 h 46 min`, `1.25 s`, `0.05 ms`, or `never`. */
export function durationText(ms: number): string {
  if (ms === Infinity) return 'never';
  const unit = UNITS.find((each) => ms >= each.ms);
  if (unit === undefined) return ms < 1000 ? `${rounded(ms)} ms` : `${rounded(ms / 1000)} s`;
  const rest = Math.floor((ms % unit.ms) / unit.smallMs);
  return `${Math.floor(ms / unit.ms)} ${unit.name}${rest === 0 ? '' : ` ${rest} ${unit.small}`}`;
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
