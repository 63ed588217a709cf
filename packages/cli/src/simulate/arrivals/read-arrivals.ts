import type { Value } from '../scenario/value.ts';
import type { ArrivalKind, Arrivals } from './arrivals.ts';
import { burst } from './burst.ts';
import { poisson } from './poisson.ts';
import { ramp } from './ramp.ts';
import { rate } from './rate.ts';
import { times } from './times.ts';

const KINDS: Readonly<Record<string, ArrivalKind>> = { burst, rate, ramp, poisson, times };

/** Reads one entry of `arrivals`. */
export function readArrivals(value: Value): Arrivals {
  const names = Object.keys(KINDS).filter((name) => value.entries().has(name));
  const [name] = names;
  if (name === undefined || names.length > 1) {
    const remedy = 'For example { burst: 200, at: 5s, over: 100ms } or { rate: 300, from: 0s, to: 2s }.';
    throw value.wrong(`a mapping with one of ${Object.keys(KINDS).join(', ')}`, remedy);
  }
  const kind = KINDS[name]!;
  return kind.read(value.fields([name, ...kind.fields]), value);
}
