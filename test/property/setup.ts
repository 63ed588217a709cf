import fc from 'fast-check';

/** Every property is tried on this many inputs, unless it names its own number. */
fc.configureGlobal({ numRuns: Number(process.env['SLUICE_PROPERTY_RUNS'] ?? 10_000) });
