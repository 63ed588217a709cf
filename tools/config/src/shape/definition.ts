import { LIMIT_ROWS, type AnyKind } from '@sluice/core/kit';
import { overrideEnd } from '@sluice/core/until';
import { isText, rightValue, scalarOf, type Field, type FieldTable } from './fields.ts';
import { KINDS, OVERRIDABLE } from './kinds.ts';
import { fieldsOf } from './row-field.ts';

// The fields of both files: those of each kind from the rows of its options, and what only files have. The loader's checks
// and the JSON Schemas for editors are derived from them.

/** The id formats that editors suggest. Code may add its own. */
const ID_FORMATS = [
  'ipAddress',
  'ipv6RangeCIDR',
  'clientNetwork',
  'accountId',
  'by',
  'regId',
  'domain',
  'fqdnSet',
  'everyone',
];

/** Returns the fields of the limits of a kind. */
export function fieldsOfKind(kind: AnyKind): FieldTable {
  return KIND_FIELDS.get(kind)!;
}

const KIND_FIELDS = new Map(KINDS.map((kind) => [kind, fieldsOf(kind.options)]));

/** The fields of all kinds. Those that several kinds have are described alike. */
export const FIELDS_OF_KINDS: FieldTable = Object.assign({}, ...KIND_FIELDS.values());

/** The format of the ids, which only files have: in code it is that of the key. */
export const ID_FORMAT_FIELD: Field = {
  schema: {
    description:
      'The format of the ids. Default: the format of the key in code; for a load without one, clientNetwork.',
    anyOf: [{ enum: ID_FORMATS }, { type: 'string', minLength: 1 }],
  },
  read: (option, node) =>
    rightValue(option, node, { demand: `one of ${ID_FORMATS.join(', ')}`, example: 'ipAddress' }, isText),
};

/** The fields that limits of all kinds have. */
export const COMMON_FIELDS: Readonly<Record<keyof typeof LIMIT_ROWS, Field>> = fieldsOf(LIMIT_ROWS);

/** The fields of a limit, for editors and for the names of fields. */
export const LIMIT_FIELDS: FieldTable = { ...FIELDS_OF_KINDS, idFormat: ID_FORMAT_FIELD, ...COMMON_FIELDS };

/** The fields of the numbers of an override, for each kind whose limits have such overrides. */
export const OVERRIDE_KIND_FIELDS: ReadonlyMap<AnyKind, FieldTable> = new Map(
  OVERRIDABLE.map((kind) => [kind, fieldsOf(kind.override.options)]),
);

/** The fields of the numbers of an override. */
export const OVERRIDE_NUMBERS: FieldTable = Object.assign({}, ...OVERRIDE_KIND_FIELDS.values());

/** When an override ends, which is read when its limit is known. */
export const UNTIL_FIELD: Field = {
  schema: {
    description:
      'When the override ends: a day, to the end of it in the time zone of the limit, or a time such as 2027-01-31T18:00.',
    type: 'string',
    pattern: String.raw`^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?$`,
    examples: ['2027-01-31', '2027-01-31T18:00'],
  },
  read(option, node) {
    const { value } = scalarOf(option, node, { demand: 'a day, such as 2027-01-31', example: '2027-01-31' });
    return overrideEnd(option, value).text;
  },
};

/** The fields of an override, beside its ids and its end. */
export const OVERRIDE_FIELDS: FieldTable = {
  ...OVERRIDE_NUMBERS,
  ...fieldsOf({
    unlimited: { about: 'Lets all requests of the ids through. Replaces the numbers.', value: { type: 'mark' } },
    blocked: { about: 'Denies all requests of the ids. Replaces the numbers.', value: { type: 'mark' } },
  }),
};

/** The fields of an override that replace the numbers. */
export const MARK_NAMES = ['unlimited', 'blocked'] as const;

/** The fields of an id with a comment. */
export const ID_NAMES = ['id', 'comment'] as const;
