import { checkedQuotaCount, checkedTenants, LIMIT_NAME_PATTERN, QUOTA_OPTIONS } from '@sluice/core/kit';
import type { Field, JsonSchema } from './field.ts';
import { periodField, waitField } from './duration-fields.ts';
import { boundsField, mappingField, partsField } from './nested-fields.ts';
import { debtField, tokensField, weightField } from './number-fields.ts';
import { limitField, markField, nameField, switchField, textField, unitField } from './word-fields.ts';

// The one definition of both files. The loader's checks and the JSON Schemas for editors are derived from it.

/** The id formats that editors suggest. Code may add its own. */
const ID_FORMATS = [
  'ipAddress',
  'ipv6RangeCIDR',
  'clientNetwork',
  'accountId',
  'regId',
  'domain',
  'fqdnSet',
  'everyone',
];

const COUNT = 'How many tokens come back every period.';

const NUMBERS = {
  burst: tokensField('The number of tokens in a full bucket: how many requests may come at once. Default: count.'),
  count: tokensField(COUNT),
  period: periodField('The time in which count tokens come back, from 1ms to 366 days, such as 1s, 180m or 7d.'),
  maxDebt: debtField(
    'How many tokens a charge may take below an empty bucket. Default: 0; for an override, the maxDebt of its limit.',
  ),
  maxWait: waitField(
    'How long a request may wait for its tokens instead of being denied, from 1ms to 1h, such as 2s. Default: requests never wait; for an override, the maxWait of its limit.',
  ),
} satisfies Record<string, Field>;

/** One of the durations of `atMost`. */
export const WINDOW_FIELD: Field = periodField('The length of the window, from 1ms to 366 days.');

const { burst, count, period } = NUMBERS;
const CEILING = mappingField(
  'The most that one id gets, own and borrowed tokens together: at least the numbers beside borrow.',
  { burst, count, period },
  ['count', 'period'],
);
const WEIGHT = 'The part of an id in the rest of the pool, relative to other ids: a number above 0.';

/** The fields of `borrow` of a limit. */
export const BORROW_FIELDS: Readonly<Record<'from' | 'ceiling' | 'fair' | 'weight' | 'tenants', Field>> = {
  from: limitField('The pool: a limit with the idFormat everyone.'),
  ceiling: CEILING,
  fair: switchField('Whether clients share the rest of the pool by their weights. Default: true.'),
  weight: weightField(`${WEIGHT} Default: 1.`),
  tenants: tokensField(
    'The largest number of ids without an override. Default: the number for which the rate of the pool is sufficient.',
    checkedTenants,
  ),
};

/** The fields of `borrow` of an override. */
export const BORROW_CHANGE_FIELDS: Readonly<Record<'ceiling' | 'weight', Field>> = {
  ceiling: CEILING,
  weight: weightField(`${WEIGHT} Default: the weight of the limit.`),
};

/** The fields of a ceiling. */
export const CEILING_FIELDS: Readonly<Record<string, Field>> = { burst, count, period };

/** The fields of a quota beside `count`. */
export const QUOTA_FIELDS: Readonly<Record<(typeof QUOTA_OPTIONS)[number], Field>> = {
  per: unitField(
    'The calendar period at whose end all tokens come back. It makes the limit a quota: count tokens for each period.',
  ),
  timeZone: textField('The time zone of the calendar of a quota. Default: UTC.', 'Europe/Berlin'),
  anchor: textField(
    'The date from which the periods of a quota are counted: 2026-01-31 gives 28 February and 31 March.',
    '2026-01-31',
    String.raw`^\d{4}-\d{2}-\d{2}$`,
  ),
  warnAt: partsField('Thresholds, as parts of the quota, at which an event is emitted, such as [0.8, 1].'),
};

/** The field `count` of a quota. Its schema is that of a rate, because one schema describes both. */
export const QUOTA_COUNT: Field = tokensField(COUNT, checkedQuotaCount);

/** The fields of a limit. */
export const LIMIT_FIELDS: Readonly<Record<string, Field>> = {
  ...NUMBERS,
  atMost: boundsField(
    'The most tokens that may be taken in any window of a length, such as 1000: 1h. The numbers of the limit and its overrides must not allow more.',
    WINDOW_FIELD,
  ),
  ...QUOTA_FIELDS,
  idFormat: nameField('The format of the ids. Default: the format of the key in code.', ID_FORMATS),
  disabled: switchField('Whether the limit is switched off. It then applies to no request.'),
  hidden: switchField('Whether the limit is hidden from clients: no header field and no problem details name it.'),
  borrow: mappingField('How the limit borrows from a pool when its own tokens are used up.', BORROW_FIELDS, [
    'from',
    'ceiling',
  ]),
};

/** The fields of an override, beside its ids. */
export const OVERRIDE_FIELDS: Readonly<Record<string, Field>> = {
  ...NUMBERS,
  unlimited: markField('Lets all requests of the ids through. Replaces the numbers.'),
  blocked: markField('Denies all requests of the ids. Replaces the numbers.'),
  borrow: mappingField('Another ceiling or weight, if the limit borrows.', BORROW_CHANGE_FIELDS, []),
};

/** The fields of the numbers of a limit. */
export const NUMBER_NAMES = ['burst', 'count', 'period', 'maxDebt', 'maxWait'] as const;

/** The fields that a quota can't have. */
export const RATE_NAMES = ['burst', 'period', 'maxDebt', 'maxWait', 'atMost', 'borrow'] as const;

/** The fields of a rate that are required. */
export const NEEDED_NUMBERS: readonly string[] = ['count', 'period'];

/** The fields of an override that replace the numbers. */
export const MARK_NAMES = ['unlimited', 'blocked'] as const;

/** The fields of an id with a comment. */
export const ID_NAMES = ['id', 'comment'] as const;

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
    required: ['count'],
    additionalProperties: false,
    anyOf: [
      { properties: without(...QUOTA_OPTIONS), required: NEEDED_NUMBERS },
      { properties: without(...RATE_NAMES), required: ['count', 'per'] },
    ],
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
        { properties: without('unlimited', 'blocked'), required: NEEDED_NUMBERS },
        {
          properties: without(...NUMBER_NAMES.filter((name) => name !== 'count'), 'borrow', ...MARK_NAMES),
          required: ['count'],
        },
        { properties: without(...NUMBER_NAMES, 'borrow', 'blocked'), required: ['unlimited'] },
        { properties: without(...NUMBER_NAMES, 'borrow', 'unlimited'), required: ['blocked'] },
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
