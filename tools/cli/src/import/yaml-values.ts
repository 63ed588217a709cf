import { wrongNode, type Field, type Node } from '@sluice/config/kit';

/** Whether a value is null: the other service takes it for one that is left out. */
export function isNull(node: Node): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/** Matches what is true, and what is false, in YAML 1.1, which the other service reads. */
const ON = /^(?:true|yes|on|y)$/i;
const OFF = /^(?:false|no|off|n)$/i;

/** The field of a switch. */
export const SWITCH: Field = {
  schema: {},
  read(option, given) {
    const text = given.kind === 'scalar' ? (given.text ?? '') : '';
    if (isNull(given) || OFF.test(text)) return false;
    if (ON.test(text)) return true;
    throw wrongNode(option, 'true or false', given, 'Or leave it out.');
  },
};

/** Returns the field of a text that must not be empty. */
export function neededText(example: string): Field {
  const field = optionalText(example);
  return {
    schema: field.schema,
    read(option, given, fields) {
      const value =
        given.kind === 'scalar' && given.value === undefined ? undefined : field.read(option, given, fields);
      if (value !== undefined) return value;
      throw wrongNode(option, 'text that is not empty', given, `For example ${example}.`);
    },
  };
}

/** Returns the field of a text. One that is empty or null is as one that is left out. */
export function optionalText(example: string): Field {
  return {
    schema: {},
    read(option, given) {
      if (given.kind === 'scalar') return isNull(given) || given.text === '' ? undefined : given.text;
      throw wrongNode(option, 'text', given, `For example ${example}.`);
    },
  };
}
