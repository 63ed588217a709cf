import {
  checkBoolean,
  checkedPeriodTicks,
  checkedTokens,
  complaint,
  DURATION_PATTERN,
  MAX_TOKENS,
} from '@sluice/core/limits';
import type { Node, Scalar } from '../node.ts';
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
    read: (option, node) => checkedTokens(option, wholeNumberOf(option, node)),
  };
}

/** A duration with its unit. */
export function periodField(description: string): Field {
  return {
    schema: { description, type: 'string', maxLength: 64, pattern: DURATION_PATTERN.source, examples: PERIODS },
    read(option, node) {
      const value = valueOf(node);
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
      const value = valueOf(node);
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
      const value = valueOf(node);
      if (value === true) return true;
      throw complaint('ERR_OPTION', { option, demand: 'true, or left out', value });
    },
  };
}

/** A name that is text. */
export function nameField(description: string, suggestions: readonly string[]): Field {
  return {
    schema: { description, anyOf: [{ enum: suggestions }, { type: 'string', minLength: 1 }] },
    read(option, node) {
      const value = valueOf(node);
      if (typeof value === 'string' && value !== '') return value;
      const remedy = `For example ${suggestions[0]}.`;
      throw complaint('ERR_OPTION', { option, demand: `one of ${suggestions.join(', ')}`, value, remedy });
    },
  };
}

const PERIODS = ['1s', '1m', '180m', '24h', '7d'];
const PLAIN_DIGITS = /^(?:0|[1-9]\d*)$/;
const AMOUNT = /^[1-9]\d{0,6}$/;

/** A value as core's checks take it. */
function valueOf(node: Node): unknown {
  if (node.kind === 'list') return [];
  return node.kind === 'mapping' ? {} : node.value;
}

// 0x10, 1e3, 017 and 1.0 mean different things to different readers of YAML, or to whoever looks at them.
function wholeNumberOf(option: string, node: Node): unknown {
  const value = valueOf(node);
  const { text = String(value) } = node as Scalar;
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
