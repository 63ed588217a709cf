import { SluiceError } from '@sluice/core';
import {
  CALENDAR_UNITS,
  checkBoolean,
  checkedDebt,
  checkedPeriodTicks,
  checkedTokens,
  checkedWaitTicks,
  checkWeight,
  complaint,
  DURATION_PATTERN,
  leafOf,
  LIMIT_NAME_PATTERN,
  MAX_TOKENS,
} from '@sluice/core/kit';
import { wrongValue, type Node, type Scalar } from '../nodes/node.ts';

/** The part of JSON Schema that the two files need: draft 7, which editors support best. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema | false>>;
  readonly propertyNames?: JsonSchema;
  readonly additionalProperties?: JsonSchema | false;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly anyOf?: readonly JsonSchema[];
}

/** A field of a limit or an override: its schema for editors, with the description, and its check by the loader. */
export interface Field {
  readonly schema: JsonSchema;
  /**
   * Validates and returns the value.
   *
   * @param option - The name of the field in messages, such as `NewOrders.count`.
   * @throws {SluiceError} If the value is wrong, with the option, the demand, the value and the remedy.
   */
  read(option: string, node: Node): unknown;
}

/**
 * A field for a whole number of tokens, or of what gets them.
 *
 * @param check - That of core. Default: that of a rate.
 */
export function tokensField(
  description: string,
  check: (option: string, value: unknown) => number = checkedTokens,
): Field {
  return {
    schema: { description, type: 'integer', minimum: 1, maximum: MAX_TOKENS },
    read: (option, node) => check(option, wholeNumberOf(option, scalarOf(option, node, TOKENS))),
  };
}

/** A field for tokens of debt: a whole number that may be 0. */
export function debtField(description: string): Field {
  return {
    schema: { description, type: 'integer', minimum: 0, maximum: MAX_TOKENS },
    read: (option, node) => checkedDebt(option, wholeNumberOf(option, scalarOf(option, node, DEBT))),
  };
}

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

/** A field for a mapping of tokens to durations. Returns the mapping, whose entries are fields of their own. */
export function boundsField(description: string, window: Field): Field {
  return {
    schema: {
      description,
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^(?:[1-9][0-9]{0,8}|1000000000)$' },
      additionalProperties: window.schema,
    },
    read(option, node) {
      if (node.kind === 'mapping') return node;
      const message = wrongValue(option, 'a mapping of tokens to durations', node, 'For example atMost: { 1000: 1h }.');
      throw new SluiceError('ERR_OPTION', message);
    },
  };
}

/** A field for the name of a limit. */
export function limitField(description: string): Field {
  return {
    schema: { description, type: 'string', pattern: LIMIT_NAME_PATTERN.source },
    read(option, node) {
      const demand = 'the name of a limit';
      const { value } = scalarOf(option, node, { demand, example: 'Pool' });
      if (typeof value === 'string' && value !== '') return value;
      throw complaint('ERR_OPTION', { option, demand, value, remedy: `For example ${leafOf(option)}: Pool.` });
    },
  };
}

/** A field for a number above 0, which need not be whole. */
export function weightField(description: string): Field {
  return {
    schema: { description, type: 'number', exclusiveMinimum: 0 },
    read(option, node) {
      const { value } = scalarOf(option, node, { demand: 'a number above 0', example: '3' });
      checkWeight(option, value);
      return value;
    },
  };
}

/** A field for a calendar period. */
export function unitField(description: string): Field {
  return {
    schema: { description, enum: CALENDAR_UNITS },
    read: (option, node) =>
      scalarOf(option, node, { demand: `one of ${CALENDAR_UNITS.join(', ')}`, example: 'month' }).value,
  };
}

/** A field for a text whose value the limit itself validates. */
export function textField(description: string, example: string, pattern?: string): Field {
  const format = pattern === undefined ? {} : { pattern };
  return {
    schema: { description, type: 'string', minLength: 1, ...format, examples: [example] },
    read: (option, node) => scalarOf(option, node, { demand: `text, such as ${example}`, example }).value,
  };
}

/** A field for a list of numbers above 0, at most 1. */
export function partsField(description: string): Field {
  return {
    schema: { description, type: 'array', items: { type: 'number', exclusiveMinimum: 0, maximum: 1 } },
    read(option, node) {
      if (node.kind === 'list') return [...node.items].map((item) => (item.kind === 'scalar' ? item.value : undefined));
      const remedy = `For example ${leafOf(option)}: [0.8, 1].`;
      throw new SluiceError('ERR_OPTION', wrongValue(option, 'a list of numbers above 0, at most 1', node, remedy));
    },
  };
}

/** A field for a mapping of other fields, which is read by `Fields.within`. */
export function mappingField(
  description: string,
  fields: Readonly<Record<string, Field>>,
  required: readonly string[],
): Field {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
  const needed = required.length === 0 ? {} : { required };
  return {
    schema: { description, type: 'object', properties, ...needed, additionalProperties: false },
    read(option, node) {
      if (node.kind === 'mapping') return node;
      const remedy = `For example ${leafOf(option)}: { ${required.map((name) => `${name}: …`).join(', ')} }.`;
      throw new SluiceError('ERR_OPTION', wrongValue(option, 'a mapping of fields', node, remedy));
    },
  };
}

/** A field for `true` or `false`. */
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

/** A field whose only value is `true`. */
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

/** A field for a name: any text that is not empty. */
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
const PLAIN_DIGITS = /^(?:0|[1-9]\d*)$/;
const AMOUNT = /^[1-9]\d{0,6}$/;

const TOKENS = { demand: `a whole number from 1 to ${MAX_TOKENS}`, example: '100' };
const DEBT = { demand: `a whole number from 0 to ${MAX_TOKENS}`, example: '1000' };

/** Returns the node of a value that is neither a list nor a mapping, or throws. */
function scalarOf(option: string, node: Node, { demand, example }: { demand: string; example: string }): Scalar {
  if (node.kind === 'scalar') return node;
  throw new SluiceError('ERR_OPTION', wrongValue(option, demand, node, `For example ${leafOf(option)}: ${example}.`));
}

// Parsers and people read 0x10, 1e3, 017 and 1.0 in different ways, so only plain digits are accepted.
function wholeNumberOf(option: string, { value, text = String(value) }: Scalar): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || PLAIN_DIGITS.test(text)) return value;
  throw complaint('ERR_OPTION', {
    option,
    demand: 'written in plain decimal digits',
    value: text,
    remedy: `For example ${value}.`,
  });
}

// A number without a unit is ambiguous: 60 could be a minute or 60 ms.
function isAmountAlone(node: Node): node is Scalar & { text: string } {
  return node.kind === 'scalar' && AMOUNT.test(node.text ?? '');
}

function withoutUnit(option: string, { value, text }: Scalar & { text: string }): Error {
  const remedy = `Write ${text}s for seconds, ${text}ms for milliseconds.`;
  return complaint('ERR_DURATION', { option, demand: 'a duration with its unit', value, remedy });
}
