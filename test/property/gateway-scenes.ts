// What happens to several processes that hold slots in one store, as random steps.
import fc from 'fast-check';

export const IDS = ['a', 'b'] as const;
export const GATEWAYS = 3;
export const SHARES = [1, 0.5] as const;

const of = fc.nat(GATEWAYS - 1);
const cost = fc.constantFrom(0, 1, 1, 1, 1, 2, 2, 3);
const id = fc.constantFrom(...IDS);
const mode = fc.constantFrom('check-and-spend', 'check-and-spend', 'check-and-spend', 'spend-only');
/** Shorter than a third of an expiry, longer than that, and longer than an expiry. */
const clockMs = fc.constantFrom(300, 2500, 7000);

/** Faults are rare enough for the store to be full most of the time. */
const step = fc.oneof(
  { weight: 24, arbitrary: fc.record({ hold: of, id, cost, share: fc.constantFrom(...SHARES), mode }) },
  { weight: 14, arbitrary: fc.record({ release: of, which: fc.nat(9) }) },
  { weight: 14, arbitrary: fc.record({ passMs: fc.constantFrom(1, 100, 300, 300, 1000, 1000, 2500, 7000) }) },
  { weight: 1, arbitrary: fc.record({ cut: of }) },
  { weight: 3, arbitrary: fc.record({ connect: of }) },
  { weight: 1, arbitrary: fc.record({ stall: of }) },
  { weight: 6, arbitrary: fc.record({ resume: of }) },
  { weight: 1, arbitrary: fc.record({ crash: of }) },
  { weight: 1, arbitrary: fc.record({ jump: of, ms: clockMs }) },
  { weight: 1, arbitrary: fc.record({ serverBackMs: fc.integer({ min: 1, max: 400 }) }) },
  { weight: 1, arbitrary: fc.record({ serverOnMs: clockMs }) },
  { weight: 2, arbitrary: fc.constant({ copy: true } as const) },
  { weight: 1, arbitrary: fc.constant({ failOver: true } as const) },
);
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
export type Hold = Extract<Step, { hold: number }>;

/** What happens to three gateways. */
export function gatewayScenes(maxLength: number): fc.Arbitrary<readonly Step[]> {
  return fc.array(step, { minLength: 1, maxLength, size: 'max' });
}
