import {
  checkedDebt,
  checkedTokens,
  checkOvershoot,
  checkSignal,
  checkWeight,
  complaint,
  MAX_TOKENS,
} from '@sluice/core/kit';
import type { Scalar } from '../nodes/node.ts';
import { scalarOf, type Field } from './field.ts';

const PLAIN_DIGITS = /^(?:0|[1-9]\d*)$/;
const TOKENS = { demand: `a whole number from 1 to ${MAX_TOKENS}`, example: '100' };
const DEBT = { demand: `a whole number from 0 to ${MAX_TOKENS}`, example: '1000' };

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

/** A field for a whole number from 1, whose range the limit itself validates. */
export function countField(description: string, maximum: number, example: string): Field {
  const demand = { demand: `a whole number from 1 to ${maximum}`, example };
  return {
    schema: { description, type: 'integer', minimum: 1, maximum },
    read: (option, node) => wholeNumberOf(option, scalarOf(option, node, demand)),
  };
}

/** A field for tokens of debt: a whole number that may be 0. */
export function debtField(description: string): Field {
  return {
    schema: { description, type: 'integer', minimum: 0, maximum: MAX_TOKENS },
    read: (option, node) => checkedDebt(option, wholeNumberOf(option, scalarOf(option, node, DEBT))),
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

/** A field for a part of the burst: a number above 0, at most 1. */
export function overshootField(description: string): Field {
  return {
    schema: { description, type: 'number', exclusiveMinimum: 0, maximum: 1 },
    read(option, node) {
      const { value } = scalarOf(option, node, { demand: 'a number above 0, at most 1', example: '0.1' });
      checkOvershoot(option, value);
      return value;
    },
  };
}

/** A field for a signal of a load: a number above 0 and below 1. */
export function signalField(description: string, example: string): Field {
  return {
    schema: { description, type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    read(option, node) {
      const { value } = scalarOf(option, node, { demand: 'a number above 0 and below 1', example });
      checkSignal(option, value);
      return value;
    },
  };
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
