import {
  boundsOf,
  checkOption,
  complaint,
  durationTicks,
  DURATION_PATTERN,
  leafOf,
  LIMIT_NAME_PATTERN,
  type OptionRow,
  type OptionValue,
} from '@sluice/core/kit';
import { shownNode, wrongNode, type Mapping, type Node, type Scalar } from '../nodes/node.ts';
import { isText, scalarOf, rightValue, type Field, type Fields, type JsonSchema } from './fields.ts';

type Value<Type extends OptionValue['type']> = Extract<OptionValue, { type: Type }>;

/** How a field for one type of values is described for editors, and read. */
type FieldFor<Type extends OptionValue['type']> = (value: Value<Type>) => {
  readonly schema: JsonSchema;
  read(option: string, node: Node, fields: Fields): unknown;
};

/** Returns the fields for the rows of options. */
export function fieldsOf<Name extends string>(rows: Readonly<Record<Name, OptionRow>>): Readonly<Record<Name, Field>> {
  const entries = Object.entries<OptionRow>(rows).map(([name, row]) => [name, fieldOf(row)]);
  return Object.fromEntries(entries) as Record<Name, Field>;
}

/** Returns the field of an option: how a file has it. The value is then checked as in code. */
export function fieldOf(row: OptionRow): Field {
  const field = (FIELDS[row.value.type] as (value: OptionValue) => Field)(row.value);
  return {
    schema: { description: row.about, ...field.schema },
    read(option, node, fields) {
      const found = field.read(option, node, fields);
      // What is wrong within a mapping is known already.
      if (found !== undefined || node.kind === 'scalar') checkOption(row, option, found);
      return found;
    },
  };
}

const FIELDS: { readonly [Type in OptionValue['type']]: FieldFor<Type> } = {
  'whole number': ({ min, max, example }) => ({
    schema: { type: 'integer', minimum: min, maximum: max },
    read: (option, node) =>
      wholeNumberOf(option, scalarOf(option, node, { demand: `a whole number from ${min} to ${max}`, example })),
  }),
  fraction: ({ most, below, demand, example }) => ({
    schema: {
      type: 'number',
      exclusiveMinimum: 0,
      ...(most !== undefined && { maximum: most }),
      ...(below !== undefined && { exclusiveMaximum: below }),
    },
    read: (option, node) => scalarOf(option, node, { demand, example }).value,
  }),
  duration: ({ range, examples }) => ({
    schema: { type: 'string', maxLength: 64, pattern: DURATION_PATTERN.source, examples },
    read(option, node) {
      const demand = `a duration ${range.demand}`;
      const { value } = scalarOf(option, node, { demand, example: examples[1] });
      if (isAmountAlone(node)) throw withoutUnit(option, node);
      if (typeof value === 'string' && isDuration(() => durationTicks(option, value, range))) return value;
      const remedy = `For example ${examples.slice(0, -1).join(', ')} or ${examples.at(-1)}.`;
      throw complaint('ERR_DURATION', { option, demand, value, remedy });
    },
  }),
  choice: ({ choices, example }) => ({
    schema: { enum: choices },
    read: (option, node) => scalarOf(option, node, { demand: `one of ${choices.join(', ')}`, example }).value,
  }),
  text: ({ pattern, example }) => ({
    schema: { type: 'string', minLength: 1, ...(pattern !== undefined && { pattern }), examples: [example] },
    read: (option, node) => scalarOf(option, node, { demand: `text, such as ${example}`, example }).value,
  }),
  'name of a limit': () => ({
    schema: { type: 'string', pattern: LIMIT_NAME_PATTERN.source },
    read: (option, node) => rightValue(option, node, { demand: 'the name of a limit', example: 'Pool' }, isText),
  }),
  switch: () => ({
    schema: { type: 'boolean' },
    read: (option, node) => scalarOf(option, node, { demand: 'true or false', example: 'true' }).value,
  }),
  mark: () => ({
    schema: { const: true },
    read: (option, node) =>
      rightValue(option, node, { demand: 'true, or left out', example: 'true' }, (value) => value === true),
  }),
  parts: () => ({
    schema: { type: 'array', items: { type: 'number', exclusiveMinimum: 0, maximum: 1 } },
    read(option, node) {
      if (node.kind === 'list') return [...node.items].map((item) => (item.kind === 'scalar' ? item.value : undefined));
      const remedy = `For example ${leafOf(option)}: [0.8, 1].`;
      throw wrongNode(option, 'a list of numbers above 0, at most 1', node, remedy);
    },
  }),
  bounds({ window }) {
    const field = fieldOf(window);
    return {
      schema: {
        type: 'object',
        minProperties: 1,
        propertyNames: { pattern: '^(?:[1-9][0-9]{0,8}|1000000000)$' },
        additionalProperties: field.schema,
      },
      read(option, node, fields) {
        const remedy = 'For example atMost: { 1000: 1h }.';
        const mapping = mappingOf(option, node, 'a mapping of tokens to durations', remedy);
        const entries = [...mapping.entries];
        if (entries.length === 0) boundsOf(option, {});
        const table = entries.map(({ key }) => {
          const tokens = key.kind === 'scalar' ? key.text! : shownNode(key);
          fields.attempt(() => boundsOf(option, { [tokens]: '1s' }), key.at);
          return [tokens, field] as const;
        });
        return fields.record(option, { ...mapping, entries }, { table: Object.fromEntries(table) });
      },
    };
  },
  options({ rows, needed }) {
    const table = fieldsOf(rows);
    return {
      schema: {
        type: 'object',
        properties: schemasOf(table),
        ...(needed.length > 0 && { required: needed }),
        additionalProperties: false,
      },
      read(option, node, fields) {
        const remedy = `For example ${leafOf(option)}: { ${needed.map((name) => `${name}: …`).join(', ')} }.`;
        return fields.record(option, mappingOf(option, node, 'a mapping of fields', remedy), { table, needed });
      },
    };
  },
  source({ source, rows, hints }) {
    const table = fieldsOf(rows);
    return {
      schema: {
        anyOf: [
          { enum: [source] },
          {
            description: `The options of ${source}.`,
            type: 'object',
            properties: schemasOf(table),
            additionalProperties: false,
          },
        ],
      },
      read(option, node, fields) {
        if (node.kind === 'mapping') return fields.record(option, node, { table, hints });
        if (node.kind === 'scalar' && node.value === source) return {};
        const leaf = leafOf(option);
        const remedy = `Write ${leaf}: ${source}, or for example ${leaf}: { busy: 0.9 }.`;
        throw wrongNode(option, `${source}, or a mapping of its options`, node, remedy);
      },
    };
  },
};

/** Returns the schemas of fields. */
export function schemasOf(fields: Readonly<Record<string, Field>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
}

function mappingOf(option: string, node: Node, demand: string, remedy: string): Mapping {
  if (node.kind === 'mapping') return node;
  throw wrongNode(option, demand, node, remedy);
}

const PLAIN_DIGITS = /^(?:0|[1-9]\d*)$/;

// Parsers and people read 0x10, 1e3, 017 and 1.0 in different ways, so only plain digits are accepted.
function wholeNumberOf(option: string, { value, text = String(value) }: Scalar): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || PLAIN_DIGITS.test(text)) return value;
  const remedy = `For example ${value}.`;
  throw complaint('ERR_OPTION', { option, demand: 'written in plain decimal digits', value: text, remedy });
}

// The error of core is replaced, because it also suggests numbers of milliseconds, which files do not accept.
function isDuration(ticks: () => number): boolean {
  try {
    return ticks() > 0;
  } catch {
    return false;
  }
}

const AMOUNT = /^[1-9]\d{0,6}$/;

// A number without a unit is ambiguous: 60 could be a minute or 60 ms.
function isAmountAlone(node: Node): node is Scalar & { text: string } {
  return node.kind === 'scalar' && AMOUNT.test(node.text ?? '');
}

function withoutUnit(option: string, { value, text }: Scalar & { text: string }): Error {
  const remedy = `Write ${text}s for seconds, ${text}ms for milliseconds.`;
  return complaint('ERR_DURATION', { option, demand: 'a duration with its unit', value, remedy });
}
