import type { OverrideRate } from '../../limits/limit.ts';
import type { LimitOverrides } from './limit-overrides.ts';
import type { OverrideEnd } from './override-end.ts';
import { OverrideEnds } from './override-ends.ts';
import type { Override } from './override.ts';

/** An override, which may have an end. */
export type AnyOverride = Override | EndingOverride;

/** An override that applies until an instant: what `until` returns. */
export class EndingOverride {
  readonly override: Override;
  /** When it ends. */
  readonly end: OverrideEnd;

  constructor(override: Override, end: OverrideEnd) {
    this.override = override;
    this.end = end;
  }

  /**
   * Adds it to the overrides of its limit.
   *
   * @param rate - The numbers of the override in ticks.
   * @returns The canonical spelling of the id.
   * @throws {SluiceError} As `LimitOverrides.add`.
   */
  put(overrides: LimitOverrides, text: string, rate: OverrideRate): string {
    const ends = (overrides.ends ??= new OverrideEnds());
    // The tables keep it in the place of numbers, and only `OverrideEnds.now` reads it.
    return overrides.add(text, rate, ends.listed(rate, this.end) as unknown as OverrideRate);
  }
}
