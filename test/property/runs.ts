const DEFAULT_RUNS = '1000';

const { SLUICE_PROPERTY_RUNS = DEFAULT_RUNS } = process.env;

/** On how many inputs every property is tried, unless it names its own number. */
export const RUNS = Number(SLUICE_PROPERTY_RUNS);

/** The same for a property whose runs take long: on so many inputs, or fewer. */
export function atMost(runs: number): number {
  return Math.min(runs, RUNS);
}
