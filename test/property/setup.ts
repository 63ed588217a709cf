import fc from 'fast-check';
import { RUNS } from './runs.ts';

const { SLUICE_PROPERTY_SEED: seed = '1' } = process.env;

/**
 * A property is tried on the same inputs each time: what passed on one machine passes on the next. Another seed, or
 * `random`, goes looking for more.
 */
fc.configureGlobal({ numRuns: RUNS, ...(seed !== 'random' && { seed: Number(seed) }) });
