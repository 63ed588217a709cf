import { expect, test } from 'vitest';
import { clockFinding } from '../src/doctor/clocks.ts';
import { POSTGRES_CHECKS } from '../src/doctor/postgres-checks.ts';

test.each([
  [0, 'ok', 'within a second of this process'],
  [499, 'ok', 'within a second of this process'],
  [-500, 'ok', '1 s behind this process'],
  [60_000, 'ok', '60 s ahead of this process'],
  [60_001, 'wrong', '60 s ahead of this process'],
  [-90_000, 'wrong', '90 s behind this process'],
])('of Redis and of PostgreSQL, a clock that is %d ms ahead is %s', (aheadMs, verdict, found) => {
  const nowMs = 1_800_000_000_000;
  const settings = { clock_ms: nowMs + aheadMs };
  const findings = POSTGRES_CHECKS.filter(({ name }) => name === 'clock').map((check) =>
    check({ settings } as never, { nowMs } as never),
  );
  for (const each of [clockFinding(aheadMs), ...findings])
    expect(each).toMatchObject({ check: 'clock', verdict, found });
  expect(findings).toHaveLength(1);
});
