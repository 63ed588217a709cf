import {
  checkedLeaseMs,
  checkedLoadMs,
  checkedPeriodTicks,
  checkedWaitTicks,
  complaint,
  DURATION_PATTERN,
} from '@sluice/core/kit';
import type { Node, Scalar } from '../nodes/node.ts';
import { scalarOf, type Field } from './field.ts';

const PERIOD: DurationUse = {
  demand: 'a duration from 1ms to 366 days',
  example: '1m',
  examples: ['1s', '1m', '180m', '24h', '7d'],
  remedy: 'For example 1s, 180m, 1h30m or 7d.',
  check: checkedPeriodTicks,
};
const WAIT: DurationUse = {
  demand: 'a duration from 1ms to 1 hour',
  example: '2s',
  examples: ['500ms', '2s', '10s'],
  remedy: 'For example 500ms, 2s or 1m30s.',
  check: checkedWaitTicks,
};
const LEASE: DurationUse = {
  demand: 'a duration from 1s to 1 hour',
  example: '10s',
  examples: ['5s', '10s', '1m'],
  remedy: 'For example 5s, 10s or 1m30s.',
  check: checkedLeaseMs,
};
const LOADS: Readonly<Record<LoadTime, DurationUse>> = {
  rise: loadUse('rise', 'a duration from 500ms to 10 minutes', ['500ms', '3s', '1m']),
  fall: loadUse('fall', 'a duration from 1s to 1 hour', ['10s', '1m', '5m']),
  every: loadUse('every', 'a duration from 100ms to 60s', ['100ms', '250ms', '1s']),
};
const AMOUNT = /^[1-9]\d{0,6}$/;

/** The durations of a load. */
type LoadTime = 'rise' | 'fall' | 'every';

/** What a duration is for: its range, examples of it, and its check by core. */
interface DurationUse {
  readonly demand: string;
  readonly example: string;
  readonly examples: readonly string[];
  readonly remedy: string;
  readonly check: (option: string, value: unknown) => number;
}

/** A field for the period of a limit, with a unit. */
export function periodField(description: string): Field {
  return durationField(description, PERIOD);
}

/** A field for the longest delay of a request, with a unit. */
export function waitField(description: string): Field {
  return durationField(description, WAIT);
}

/** A field for the lease of slots, with a unit. */
export function leaseField(description: string): Field {
  return durationField(description, LEASE);
}

/** A field for one of the durations of a load, with a unit. */
export function loadTimeField(name: LoadTime, description: string): Field {
  return durationField(description, LOADS[name]);
}

function loadUse(name: LoadTime, demand: string, examples: [string, string, string]): DurationUse {
  return {
    demand,
    example: examples[1],
    examples,
    remedy: `For example ${examples[0]}, ${examples[1]} or ${examples[2]}.`,
    check: (option, value) => checkedLoadMs(option, name, value),
  };
}

function durationField(description: string, use: DurationUse): Field {
  const { demand, example, examples, remedy } = use;
  return {
    schema: { description, type: 'string', maxLength: 64, pattern: DURATION_PATTERN.source, examples },
    read(option, node) {
      const { value } = scalarOf(option, node, { demand, example });
      if (isAmountAlone(node)) throw withoutUnit(option, node);
      if (typeof value === 'string' && isDuration(option, value, use)) return value;
      throw complaint('ERR_DURATION', { option, demand, value, remedy });
    },
  };
}

// The error of core is replaced, because it also suggests numbers of milliseconds, which files do not accept.
function isDuration(option: string, value: string, { check }: DurationUse): boolean {
  try {
    return check(option, value) > 0;
  } catch {
    return false;
  }
}

// A number without a unit is ambiguous: 60 could be a minute or 60 ms.
function isAmountAlone(node: Node): node is Scalar & { text: string } {
  return node.kind === 'scalar' && AMOUNT.test(node.text ?? '');
}

function withoutUnit(option: string, { value, text }: Scalar & { text: string }): Error {
  const remedy = `Write ${text}s for seconds, ${text}ms for milliseconds.`;
  return complaint('ERR_DURATION', { option, demand: 'a duration with its unit', value, remedy });
}
