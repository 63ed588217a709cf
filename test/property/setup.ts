import fc from 'fast-check';

const { SLUICE_PROPERTY_RUNS: runs = '10000', SLUICE_PROPERTY_SEED: seed = '1' } = process.env;

/**
 * Every property is tried on this many inputs, unless it names its own number, and on the same ones each time: what
 * passed on one machine passes on the next. Another seed, or `random`, goes looking for more.
 */
fc.configureGlobal({ numRuns: Number(runs), ...(seed !== 'random' && { seed: Number(seed) }) });
