import { SluiceError } from '@sluice/core';
import {
  checkBoolean,
  checkedPeriodTicks,
  checkedTokens,
  complaint,
  DURATION_PATTERN,
  leafOf,
  MAX_TOKENS,
} from '@sluice/core/limits';
import { refusal, type Node, type Scalar } from '../node.ts';
import type { JsonSchema } from './json-schema.ts';

/** A field of a limit or an override: what it means, what an editor checks, and what the loader checks. */
export interface Field {
  readonly schema: JsonSchema;
  /**
   * Gives the value, checked.
   *
   * @param option - How a message calls the field: `NewOrders.count`.
   * @throws {SluiceError} naming the option, its demand and what it was.
   */
  read(option: string, node: Node): unknown;
}

/** A whole number of tokens. */
export function tokensField(description: string): Field {
  return {
    schema: { description, type: 'integer', minimum: 1, maximum: MAX_TOKENS },
    read: (option, node) => checkedTokens(option, wholeNumberOf(option, scalarOf(option, node, TOKENS))),
  };
}

/** A duration with its unit. */
export function periodField(description: string): Field {
  return {
    schema: { description, type: 'string', maxLength: 64, pattern: DURATION_PATTERN.source, examples: PERIODS },
    read(option, node) {
      const { value } = scalarOf(option, node, { demand: 'a duration from 1ms to 366 days', example: '1m' });
      if (isAmountAlone(node)) throw withoutUnit(option, node);
      if (typeof value === 'string' && isPeriod(option, value)) return value;
      const remedy = 'For example 1s, 180m, 1h30m or 7d.';
      throw complaint('ERR_DURATION', { option, demand: 'a duration from 1ms to 366 days', value, remedy });
    },
  };
}

// Core's own message offers numbers of milliseconds too, which a file does not have.
function isPeriod(option: string, value: string): boolean {
  try {
    return checkedPeriodTicks(option, value) > 0;
  } catch {
    return false;
  }
}

/** `true` or `false`. */
export function switchField(description: string): Field {
  return {
    schema: { description, type: 'boolean' },
    read(option, node) {
      const { value } = scalarOf(option, node, { demand: 'true or false', example: 'true' });
      checkBoolean(option, value);
      return value;
    },
  };
}

/** `true`, or left out. */
export function markField(description: string): Field {
  return {
    schema: { description, const: true },
    read(option, node) {
      const demand = 'true, or left out';
      const { value } = scalarOf(option, node, { demand, example: 'true' });
      if (value === true) return true;
      throw complaint('ERR_OPTION', { option, demand, value, remedy: `For example ${leafOf(option)}: true.` });
    },
  };
}

/** A name that is text. */
export function nameField(description: string, suggestions: readonly string[]): Field {
  return {
    schema: { description, anyOf: [{ enum: suggestions }, { type: 'string', minLength: 1 }] },
    read(option, node) {
      const demand = `one of ${suggestions.join(', ')}`;
      const { value } = scalarOf(option, node, { demand, example: suggestions[0]! });
      if (typeof value === 'string' && value !== '') return value;
      throw complaint('ERR_OPTION', { option, demand, value, remedy: `For example ${suggestions[0]}.` });
    },
  };
}

const PERIODS = ['1s', '1m', '180m', '24h', '7d'];
const PLAIN_DIGITS = /^(?:0|[1-9]\d*)$/;
const AMOUNT = /^[1-9]\d{0,6}$/;

const TOKENS = { demand: `a whole number from 1 to ${MAX_TOKENS}`, example: '100' };

/** The node of a value that is neither a list nor a mapping. */
function scalarOf(option: string, node: Node, { demand, example }: { demand: string; example: string }): Scalar {
  if (node.kind === 'scalar') return node;
  throw new SluiceError('ERR_OPTION', refusal(option, demand, node, `For example ${leafOf(option)}: ${example}.`));
}

// 0x10, 1e3, 017 and 1.0 mean different things to different readers of YAML, or to whoever looks at them.
function wholeNumberOf(option: string, { value, text = String(value) }: Scalar): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || PLAIN_DIGITS.test(text)) return value;
  throw complaint('ERR_OPTION', {
    option,
    demand: 'written in plain decimal digits',
    value: text,
    remedy: `For example ${value}.`,
  });
}

// A bare 60 is a minute to one reader, 60 ms to another; so is '60'.
function isAmountAlone(node: Node): node is Scalar & { text: string } {
  return node.kind === 'scalar' && AMOUNT.test(node.text ?? '');
}

function withoutUnit(option: string, { value, text }: Scalar & { text: string }): Error {
  const remedy = `Write ${text}s for seconds, ${text}ms for milliseconds.`;
  return complaint('ERR_DURATION', { option, demand: 'a duration with its unit', value, remedy });
}
