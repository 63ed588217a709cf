import { LIMIT_NAME_PATTERN } from '@sluice/core/limits';
import { markField, nameField, periodField, switchField, tokensField, type Field } from './field.ts';
import type { JsonSchema } from './json-schema.ts';

// What both files may hold, once: the loader's checks and the schemas for editors are made of it.

/** The formats that a file may name; code adds its own. */
const ID_FORMATS = ['ipAddress', 'ipv6RangeCIDR', 'clientNetwork', 'accountId', 'regId', 'domain', 'fqdnSet'];

const NUMBERS = {
  burst: tokensField('The most tokens that are ever there: how many requests may come at once. Default: count.'),
  count: tokensField('How many tokens come back every period.'),
  period: periodField('The time in which count tokens come back, from 1ms to 366 days, such as 1s, 180m or 7d.'),
} satisfies Record<string, Field>;

/** The fields of a limit. */
export const LIMIT_FIELDS: Readonly<Record<string, Field>> = {
  ...NUMBERS,
  idFormat: nameField('What the ids of the limit are. Without it the code says so.', ID_FORMATS),
  disabled: switchField('Whether the limit is switched off: it then says nothing about anyone.'),
  hidden: switchField('Whether clients are not told of the limit: no header field and no problem details name it.'),
};

/** The fields of an override, beside its ids. */
export const OVERRIDE_FIELDS: Readonly<Record<string, Field>> = {
  ...NUMBERS,
  unlimited: markField('Lets the ids through; stands in the place of burst, count and period.'),
  blocked: markField('Always refuses the ids; stands in the place of burst, count and period.'),
};

/** The names of the fields that numbers are made of. */
export const NUMBER_NAMES = ['burst', 'count', 'period'] as const;

/** The names of the fields that stand in the place of numbers. */
export const MARK_NAMES = ['unlimited', 'blocked'] as const;

/** The fields of an id that has more than itself. */
export const ID_NAMES = ['id', 'comment'] as const;

const PATTERN: JsonSchema = { pattern: LIMIT_NAME_PATTERN.source };
const DRAFT = 'http://json-schema.org/draft-07/schema#';

const ID: JsonSchema = {
  description: 'An id as the limit has it, or of addresses a network such as 10.20.0.0/16.',
  type: ['string', 'number'],
  minLength: 1,
};

const IDS: JsonSchema = {
  description: 'Whom the numbers hold for.',
  type: 'array',
  minItems: 1,
  items: {
    anyOf: [
      ID,
      {
        type: 'object',
        properties: {
          id: ID,
          comment: { description: 'Why; for readers only.', type: ['string', 'number', 'null'] },
        },
        required: ['id'],
        additionalProperties: false,
      },
    ],
  },
};

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
    required: ['count', 'period'],
    additionalProperties: false,
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
      anyOf: [
        { properties: without('unlimited', 'blocked'), required: ['count', 'period'] },
        { properties: without(...NUMBER_NAMES, 'blocked'), required: ['unlimited'] },
        { properties: without(...NUMBER_NAMES, 'unlimited'), required: ['blocked'] },
      ],
    },
  },
};

function without(...names: readonly string[]): Record<string, false> {
  return Object.fromEntries(names.map((name) => [name, false]));
}

function schemasOf(fields: Readonly<Record<string, Field>>): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
}
