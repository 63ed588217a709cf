import type { Case, TypedLimit } from './case.ts';
import { arrivalsOf, timelineOf } from './timeline.ts';

const FIELDS = ['burst', 'count', 'period', 'maxWait'] as const;

/** Longer values are no numbers or durations. */
const MOST_CHARACTERS = 30;

/** Returns the part of an address that shows a case: `burst=5&count=5&period=1s&cost=1&t=0x6+1.5`. */
export function hashOf({ limits, cost, arrivals }: Case): string {
  const parameters = new URLSearchParams();
  limits.forEach((limit, i) => {
    for (const field of FIELDS) if (limit[field] !== '') parameters.set(nameOf(field, i), limit[field]);
  });
  parameters.set('cost', cost);
  parameters.set('t', timelineOf(arrivals));
  return parameters.toString();
}

/** Returns the case of an address; undefined for one without a case. What is wrong in it, the page says. */
export function caseOf(hash: string): Case | undefined {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  if (!parameters.has('count')) return undefined;
  const valueOf = (name: string): string => (parameters.get(name) ?? '').slice(0, MOST_CHARACTERS);
  const limitAt = (i: number): TypedLimit => {
    const [burst = '', count = '', period = '', maxWait = ''] = FIELDS.map((field) => valueOf(nameOf(field, i)));
    return { burst, count, period, maxWait };
  };
  const limits = parameters.has(nameOf('count', 1)) ? [limitAt(0), limitAt(1)] : [limitAt(0)];
  return { limits, cost: valueOf('cost') || '1', arrivals: readable(parameters.get('t') ?? '') };
}

function nameOf(field: string, index: number): string {
  return index === 0 ? field : `${field}${index + 1}`;
}

function readable(text: string): Case['arrivals'] {
  try {
    return arrivalsOf(text);
  } catch {
    // A link that was cut off still shows its limits.
    return [];
  }
}
