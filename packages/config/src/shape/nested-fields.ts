import { SluiceError } from '@sluice/core';
import { leafOf } from '@sluice/core/kit';
import { wrongValue, type Mapping, type Node } from '../nodes/node.ts';
import type { Field } from './field.ts';

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
    read: (option, node) =>
      mappingOf(option, node, 'a mapping of tokens to durations', 'For example atMost: { 1000: 1h }.'),
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
      const remedy = `For example ${leafOf(option)}: { ${required.map((name) => `${name}: …`).join(', ')} }.`;
      return mappingOf(option, node, 'a mapping of fields', remedy);
    },
  };
}

/** A field for the name of a source, or for a mapping of its options, which is read by `Fields.within`. */
export function sourceField(description: string, source: string, options: Readonly<Record<string, Field>>): Field {
  const { schema } = mappingField('', options, []);
  return {
    schema: { description, anyOf: [{ enum: [source] }, { ...schema, description: `The options of ${source}.` }] },
    read(option, node) {
      if (node.kind === 'mapping' || (node.kind === 'scalar' && node.value === source)) return node;
      const leaf = leafOf(option);
      const remedy = `Write ${leaf}: ${source}, or for example ${leaf}: { busy: 0.9 }.`;
      throw new SluiceError('ERR_OPTION', wrongValue(option, `${source}, or a mapping of its options`, node, remedy));
    },
  };
}

function mappingOf(option: string, node: Node, demand: string, remedy: string): Mapping {
  if (node.kind === 'mapping') return node;
  throw new SluiceError('ERR_OPTION', wrongValue(option, demand, node, remedy));
}
