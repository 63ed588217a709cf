import { checkBoolean, complaint, leafOf, LIMIT_NAME_PATTERN } from '@sluice/core/kit';
import type { Node } from '../nodes/node.ts';
import { scalarOf, type Field } from './field.ts';

/** A field for the name of a limit. */
export function limitField(description: string): Field {
  return {
    schema: { description, type: 'string', pattern: LIMIT_NAME_PATTERN.source },
    read: (option, node) => checked(option, node, { demand: 'the name of a limit', example: 'Pool' }, isText),
  };
}

/** A field for one of several words, which the limit itself validates. */
export function choiceField(description: string, choices: readonly string[], example: string): Field {
  return {
    schema: { description, enum: choices },
    read: (option, node) => scalarOf(option, node, { demand: `one of ${choices.join(', ')}`, example }).value,
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
    read: (option, node) =>
      checked(option, node, { demand: 'true, or left out', example: 'true' }, (value) => value === true),
  };
}

/** A field for a name: any text that is not empty. */
export function nameField(description: string, suggestions: readonly string[]): Field {
  return {
    schema: { description, anyOf: [{ enum: suggestions }, { type: 'string', minLength: 1 }] },
    read: (option, node) =>
      checked(option, node, { demand: `one of ${suggestions.join(', ')}`, example: suggestions[0]! }, isText),
  };
}

/** Returns the value of a scalar, or throws. */
function checked(
  option: string,
  node: Node,
  { demand, example }: { readonly demand: string; readonly example: string },
  isRight: (value: unknown) => boolean,
): unknown {
  const { value } = scalarOf(option, node, { demand, example });
  if (isRight(value)) return value;
  throw complaint('ERR_OPTION', { option, demand, value, remedy: `For example ${leafOf(option)}: ${example}.` });
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
