import { LIMIT_NAME_PATTERN } from '@sluice/core/kit';
import { KIND_FIELDS, LIMIT_FIELDS, NEEDED_FIELDS, OVERRIDE_FIELDS, OVERRIDE_KIND_FIELDS } from './definition.ts';
import type { Field, JsonSchema } from './field.ts';

const PATTERN: JsonSchema = { pattern: LIMIT_NAME_PATTERN.source };
const DRAFT = 'http://json-schema.org/draft-07/schema#';

const ID: JsonSchema = {
  description: 'An id in the format of the limit. For limits by address also a network such as 10.20.0.0/16.',
  type: ['string', 'number'],
  minLength: 1,
};

const IDS: JsonSchema = {
  description: 'The ids that the override applies to.',
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

const { hidden } = LIMIT_FIELDS;

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
      {
        rate: { ...KIND_FIELDS.rate, hidden },
        quota: { ...KIND_FIELDS.quota, hidden },
        concurrency: { ...KIND_FIELDS.concurrency, hidden },
        load: KIND_FIELDS.load,
      },
      NEEDED_FIELDS,
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
      properties: { ...schemasOf(OVERRIDE_FIELDS), ids: IDS },
      required: ['ids'],
      additionalProperties: false,
      anyOf: alternatives(
        { ...OVERRIDE_KIND_FIELDS, unlimited: { unlimited: true }, blocked: { blocked: true } },
        { ...NEEDED_FIELDS, quota: ['count'], unlimited: ['unlimited'], blocked: ['blocked'] },
      ),
    },
  },
};

/**
 * Returns schemas of which one must be valid: the fields of one alternative without those that only others have.
 *
 * @param fields - The fields of each alternative, by their names.
 */
function alternatives<Name extends string>(
  fields: Readonly<Record<Name, object>>,
  needed: Readonly<Record<NoInfer<Name>, readonly string[]>>,
): readonly JsonSchema[] {
  const all = [...new Set(Object.values<object>(fields).flatMap((own) => Object.keys(own)))];
  return (Object.keys(fields) as Name[]).map((name) => {
    const foreign = all.filter((field) => !Object.hasOwn(fields[name], field));
    return { properties: without(foreign), required: needed[name] };
  });
}

function without(names: readonly string[]): Record<string, false> {
  return Object.fromEntries(names.map((name) => [name, false]));
}

function schemasOf(fields: Readonly<Record<string, Field>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
}
