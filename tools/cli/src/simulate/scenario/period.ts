import type { ScenarioError, Value } from './value.ts';

/** A period of a simulation in microseconds. */
export interface Period {
  readonly fromMicros: number;
  readonly lengthMicros: number;
}

/**
 * Reads `from`, which is 0 if it is not given, and `to`.
 *
 * @param endless - Returns the error if there is no `to`.
 */
export function readPeriod(fields: ReadonlyMap<string, Value>, endless: () => ScenarioError): Period {
  const to = fields.get('to');
  if (to === undefined) throw endless();
  const fromMicros = fields.get('from')?.micros() ?? 0;
  const lengthMicros = to.micros() - fromMicros;
  if (lengthMicros <= 0) throw to.wrong('after `from`');
  return { fromMicros, lengthMicros };
}
