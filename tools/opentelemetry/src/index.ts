/**
 * Metrics and traces of limiters for OpenTelemetry.
 *
 * @module
 */
export { instrument, type InstrumentOptions } from './instrument.ts';
export { spans } from './spans.ts';
