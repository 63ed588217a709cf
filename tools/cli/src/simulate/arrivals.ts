import { readPeriod, type Period } from './scenario/period.ts';
import type { Value } from './scenario/value.ts';
import { randomFrom } from './random.ts';

/** When requests arrive. */
export interface Arrivals {
  /** About how many requests there are: the number itself, or its mean. */
  readonly about: number;
  /** Returns the moments in ascending order, in microseconds that need not be whole. */
  moments(): Iterable<number>;
}

/** A kind of arrivals, named by its first field. */
interface ArrivalKind {
  /** The other fields. */
  readonly fields: readonly string[];
  read(fields: ReadonlyMap<string, Value>, whole: Value): Arrivals;
}

/** A period with the unit of its rates. */
interface Span extends Period {
  readonly perMicros: number;
}

/** The fields of {@link readSpan}. */
const SPAN_FIELDS: readonly string[] = ['per', 'from', 'to'];

/** The most requests per `per`. */
const RATES = { min: 0, max: 1_000_000, fractions: true } as const;

/** Reads `from`, which is 0 if it is not given, `to`, and `per`, which is a second if it is not given. */
function readSpan(fields: ReadonlyMap<string, Value>, whole: Value): Span {
  const period = readPeriod(fields, () =>
    whole.wrong('arrivals with an end', 'For example { rate: 300, from: 0s, to: 2s }.'),
  );
  const per = fields.get('per');
  const perMicros = per?.micros() ?? 1_000_000;
  if (perMicros === 0) throw per!.wrong('above 0s', 'For example per: 1s.');
  return { ...period, perMicros };
}

/** `{ burst: 200, at: 5s, over: 100ms }`: 200 requests from `at` on, at equal distances, the last before `at + over`. */
const burst: ArrivalKind = {
  fields: ['at', 'over'],
  read(fields) {
    const count = fields.get('burst')!.number({ min: 1, max: 1_000_000 });
    const at = fields.get('at')?.micros() ?? 0;
    const over = fields.get('over')?.micros() ?? 0;
    return { about: count, moments: () => Array.from({ length: count }, (_, i) => at + (i * over) / count) };
  },
};

/** `{ rate: 300, per: 1s, from: 0s, to: 2s }`: requests at equal distances, the first at `from`, the last before `to`. */
const rate: ArrivalKind = {
  fields: SPAN_FIELDS,
  read(fields, whole) {
    const requests = fields.get('rate')!.number(RATES);
    const { fromMicros, lengthMicros, perMicros } = readSpan(fields, whole);
    const count = Math.ceil((requests * lengthMicros) / perMicros);
    const moment = (_: unknown, i: number): number => fromMicros + (i * perMicros) / requests;
    return { about: count, moments: () => Array.from({ length: count }, moment) };
  },
};

/**
 * `{ ramp: [0, 500], per: 1s, from: 0s, to: 10s }`: a rate that changes evenly from the first number to the second.
 *
 * Up to the part x of the span, `length × (a x + (b − a) x² / 2)` requests have come. Request i comes where this is i.
 */
const ramp: ArrivalKind = {
  fields: SPAN_FIELDS,
  read(fields, whole) {
    const rates = fields.get('ramp')!;
    const [from, to, ...others] = rates.items();
    if (from === undefined || to === undefined || others.length > 0) {
      throw rates.wrong('a list of two rates', 'For example ramp: [0, 500].');
    }
    const { fromMicros, lengthMicros, perMicros } = readSpan(fields, whole);
    const a = (from.number(RATES) * lengthMicros) / perMicros;
    const b = (to.number(RATES) * lengthMicros) / perMicros;
    const count = Math.ceil((a + b) / 2);
    // The root of the quadratic equation in the form that has no difference of nearly equal numbers.
    const part = (i: number): number => (i === 0 ? 0 : (2 * i) / (a + Math.sqrt(Math.max(0, a * a + 2 * (b - a) * i))));
    return {
      about: count,
      moments: () => Array.from({ length: count }, (_, i) => fromMicros + lengthMicros * part(i)),
    };
  },
};

/**
 * `{ poisson: 300, per: 1s, from: 0s, to: 2s, seed: 1 }`: requests that come independently of each other, 300 a second on
 * average. The times between them are distributed exponentially. The same seed makes the same requests.
 */
const poisson: ArrivalKind = {
  fields: [...SPAN_FIELDS, 'seed'],
  read(fields, whole) {
    const mean = fields.get('poisson')!.number(RATES);
    const { fromMicros, lengthMicros, perMicros } = readSpan(fields, whole);
    const seed = fields.get('seed')?.number({ min: 0, max: 2 ** 32 - 1 }) ?? 1;
    return {
      about: Math.ceil((mean * lengthMicros) / perMicros),
      *moments() {
        const random = randomFrom(seed);
        const end = fromMicros + lengthMicros;
        const gap = (): number => (-Math.log(1 - random()) * perMicros) / mean;
        for (let at = fromMicros + gap(); at < end; at += gap()) yield at;
      },
    };
  },
};

/** `{ times: [0s, 120ms, 1.5s] }`: a trace, one request at each of the times, which may be in any order. */
const times: ArrivalKind = {
  fields: [],
  read(fields) {
    const moments = fields
      .get('times')!
      .items()
      .map((item) => item.micros());
    return { about: moments.length, moments: () => moments.toSorted((a, b) => a - b) };
  },
};

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
