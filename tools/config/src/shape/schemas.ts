import { LIMIT_NAME_PATTERN } from '@sluice/core/kit';
import { KINDS } from './kinds.ts';
import {
  COMMON_FIELDS,
  fieldsOfKind,
  LIMIT_FIELDS,
  MARK_NAMES,
  OVERRIDE_FIELDS,
  OVERRIDE_KIND_FIELDS,
  UNTIL_FIELD,
} from './definition.ts';
import type { FieldTable, JsonSchema } from './fields.ts';
import { schemasOf } from './row-field.ts';

const PATTERN: JsonSchema = { pattern: LIMIT_NAME_PATTERN.source };
const DRAFT = 'http://json-schema.org/draft-07/schema#';

const ID: JsonSchema = {
  description: 'An id in the format of the limit. For limits by address also a network such as 10.20.0.0/16.',
  type: ['string', 'number'],
  minLength: 1,
};

const ID_LIST: JsonSchema = {
  type: 'array',
  minItems: 1,
  items: {
    anyOf: [
      ID,
      {
        type: 'object',
        properties: {
          id: ID,
          comment: {
            description: 'The reason for the override. It has no effect.',
            type: ['string', 'number', 'null'],
          },
        },
        required: ['id'],
        additionalProperties: false,
      },
    ],
  },
};

const IDS: JsonSchema = {
  description:
    'The ids that the override applies to: a list, or the path of a file beside this one with one id a line.',
  anyOf: [ID_LIST, { type: 'string', minLength: 1 }],
};

const { hidden } = COMMON_FIELDS;

/** The JSON Schema of a file of defaults. */
export const LIMITS_SCHEMA: JsonSchema = {
  $schema: DRAFT,
  title: 'Limits of Sluice',
  description: 'Limits by name.',
  type: 'object',
  minProperties: 1,
  propertyNames: PATTERN,
  additionalProperties: {
    type: 'object',
    properties: schemasOf(LIMIT_FIELDS),
    additionalProperties: false,
    anyOf: alternatives(
      LIMIT_FIELDS,
      KINDS.map((kind) => {
        const fields = fieldsOfKind(kind);
        // A load limit is never mentioned.
        return { fields: kind.level === 'own' ? fields : { ...fields, hidden }, needed: kind.needed };
      }),
    ),
  },
};

/** The JSON Schema of a file of overrides. */
export const OVERRIDES_SCHEMA: JsonSchema = {
  $schema: DRAFT,
  title: 'Overrides of Sluice',
  description: 'Other numbers of a limit for some ids.',
  type: 'array',
  items: {
    type: 'object',
    minProperties: 1,
    maxProperties: 1,
    propertyNames: PATTERN,
    additionalProperties: {
      type: 'object',
      properties: { ...schemasOf(OVERRIDE_FIELDS), until: UNTIL_FIELD.schema, ids: IDS },
      required: ['ids'],
      additionalProperties: false,
      anyOf: alternatives(OVERRIDE_FIELDS, [
        ...[...OVERRIDE_KIND_FIELDS].map(([{ override }, fields]) => ({ fields, needed: override!.needed })),
        ...MARK_NAMES.map((name) => ({ fields: { [name]: OVERRIDE_FIELDS[name]! }, needed: [name] })),
      ]),
    },
  },
};

interface Alternative {
  readonly fields: FieldTable;
  readonly needed: readonly string[];
}

/**
 * Returns schemas of which one must be valid: the fields of one alternative without those that only others have.
 *
 * @param shared - The fields of all alternatives. A field that has another range in an alternative has it there.
 */
function alternatives(shared: FieldTable, all: readonly Alternative[]): readonly JsonSchema[] {
  const names = [...new Set(all.flatMap(({ fields }) => Object.keys(fields)))];
  return all.map(({ fields, needed }) => {
    const foreign = names.filter((name) => !Object.hasOwn(fields, name));
    return { properties: { ...without(foreign), ...rangesOf(fields, shared) }, required: needed };
  });
}

function without(names: readonly string[]): Record<string, false> {
  return Object.fromEntries(names.map((name) => [name, false]));
}

function rangesOf(fields: FieldTable, shared: FieldTable): Record<string, JsonSchema> {
  const others = Object.entries(fields).filter(([name, { schema }]) => schema.maximum !== shared[name]!.schema.maximum);
  return Object.fromEntries(
    others.map(
      ([
        name,
        {
          schema: { maximum },
        },
      ]) => [name, { maximum: maximum! }],
    ),
  );
}
