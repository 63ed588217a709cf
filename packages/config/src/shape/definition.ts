import {
  KINDS,
  BORROW_CHANGE_ROWS,
  BORROW_ROWS,
  LOAD_ROWS,
  NUMBER_ROWS,
  rateKind,
  type AnyKind,
  type OptionRow,
  type OptionRows,
} from '@sluice/core/kit';
import { isText, rightValue, type Field } from './field.ts';
import { fieldOf, fieldsOf } from './row-field.ts';

// The fields of both files: those of each kind from the rows of its options, and what only files have. The loader's checks
// and the JSON Schemas for editors are derived from them.

type FieldTable = Readonly<Record<string, Field>>;

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

/** The fields of a rate. */
export const RATE_FIELDS: Readonly<Record<keyof typeof rateKind.options, Field>> = fieldsOf(rateKind.options);

/** The fields of the numbers of a rate. */
export const NUMBER_NAMES: readonly string[] = Object.keys(NUMBER_ROWS);

/** One of the durations of `atMost`. */
export const WINDOW_FIELD: Field = fieldOf((rateKind.options.atMost.value as { window: OptionRow }).window);

/** The fields of `borrow` of a limit. */
export const BORROW_FIELDS: Readonly<Record<keyof typeof BORROW_ROWS, Field>> = fieldsOf(BORROW_ROWS);

/** The fields of `borrow` of an override. */
export const BORROW_CHANGE_FIELDS: Readonly<Record<keyof typeof BORROW_CHANGE_ROWS, Field>> =
  fieldsOf(BORROW_CHANGE_ROWS);

/** The fields of a ceiling. */
export const CEILING_FIELDS: FieldTable = fieldsOf((BORROW_ROWS.ceiling.value as { rows: OptionRows }).rows);

/** The fields of a load. */
export const LOAD_FIELDS: FieldTable = fieldsOf(LOAD_ROWS);

/** Returns the fields of the limits of a kind. */
export function fieldsOfKind(kind: AnyKind): FieldTable {
  return KIND_FIELDS.get(kind)!;
}

const KIND_FIELDS = new Map(KINDS.map((kind) => [kind, fieldsOf(kind.options)]));

/** The fields of all kinds. Those that several kinds have are described alike. */
export const FIELDS_OF_KINDS: FieldTable = Object.assign({}, ...KIND_FIELDS.values());

/** The fields that limits of all kinds have. */
export const COMMON_FIELDS: Readonly<Record<'idFormat' | 'disabled' | 'hidden', Field>> = {
  idFormat: nameField(
    'The format of the ids. Default: the format of the key in code; for a load without one, clientNetwork.',
    ID_FORMATS,
  ),
  disabled: switchField('Whether the limit is switched off. It then applies to no request.'),
  hidden: switchField('Whether the limit is hidden from clients: no header field and no problem details name it.'),
};

/** The fields of a limit, for editors and for the names of fields. */
export const LIMIT_FIELDS: FieldTable = { ...FIELDS_OF_KINDS, ...COMMON_FIELDS };

/** The fields of the numbers of an override, for each kind whose limits have such overrides. */
export const OVERRIDE_KIND_FIELDS: ReadonlyMap<AnyKind, FieldTable> = new Map(
  KINDS.flatMap((kind) => (kind.override === undefined ? [] : [[kind, fieldsOf(kind.override.options)]])),
);

/** The fields of the numbers of an override. */
export const OVERRIDE_NUMBERS: FieldTable = Object.assign({}, ...OVERRIDE_KIND_FIELDS.values());

/** The fields of an override, beside its ids. */
export const OVERRIDE_FIELDS: FieldTable = {
  ...OVERRIDE_NUMBERS,
  unlimited: markField('Lets all requests of the ids through. Replaces the numbers.'),
  blocked: markField('Denies all requests of the ids. Replaces the numbers.'),
};

/** The fields of an override that replace the numbers. */
export const MARK_NAMES = ['unlimited', 'blocked'] as const;

/** The fields of an id with a comment. */
export const ID_NAMES = ['id', 'comment'] as const;

function switchField(about: string): Field {
  return fieldOf({ about, value: { type: 'switch' } });
}

/** A field whose only value is `true`. */
function markField(description: string): Field {
  const demand = { demand: 'true, or left out', example: 'true' };
  return {
    schema: { description, const: true },
    read: (option, node) => rightValue(option, node, demand, (value) => value === true),
  };
}

/** A field for a name: any text that is not empty. */
function nameField(description: string, suggestions: readonly string[]): Field {
  const demand = { demand: `one of ${suggestions.join(', ')}`, example: suggestions[0]! };
  return {
    schema: { description, anyOf: [{ enum: suggestions }, { type: 'string', minLength: 1 }] },
    read: (option, node) => rightValue(option, node, demand, isText),
  };
}
