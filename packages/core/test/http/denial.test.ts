import { describe, expect, test } from 'vitest';
import type { Decision } from '../../src/decision/decision.ts';
import { denialOf } from '../../src/http/denial.ts';

const deniedBy = (...limits: readonly string[]): Decision =>
  ({
    outcome: 'denied',
    results: limits.map((limit) => ({ limit, allowed: false, hidden: false })),
  }) as unknown as Decision;

describe('the body of a denial names the limits that were exceeded:', () => {
  test.each<[limits: readonly string[], detail: string]>([
    [['default'], 'Rate limit "default" exceeded. Try again in 1 second.'],
    [['A', 'B'], 'Rate limits "A" and "B" exceeded. Try again in 1 second.'],
    [['A', 'B', 'C'], 'Rate limits "A", "B" and "C" exceeded. Try again in 1 second.'],
  ])('%j', (limits, detail) => {
    expect(JSON.parse(denialOf(deniedBy(...limits), 1).body)).toMatchObject({ detail, 'violated-policies': limits });
  });
});
