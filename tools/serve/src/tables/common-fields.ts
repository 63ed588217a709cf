import { fieldOf, rightValue, type Field } from '@sluice/config/kit';
import type { FieldsDialect } from '@sluice/core';

const DIALECTS: readonly FieldsDialect[] = ['draft-11', 'draft-7', 'draft-6', 'legacy'];

/** The fields of a table of both kinds. */
export const TABLE_FIELDS: Readonly<Record<'fields' | 'shadow' | 'caseInsensitive', Field>> = {
  fields: {
    schema: {
      description: 'The format of the rate limit fields; false for none. Default: draft-11.',
      enum: [...DIALECTS, false],
    },
    read: (option, node) =>
      rightValue(
        option,
        node,
        { demand: `one of ${DIALECTS.join(', ')}, or false`, example: 'draft-11' },
        (value) => value === false || DIALECTS.includes(value as FieldsDialect),
      ),
  },
  shadow: fieldOf({
    about: 'Whether the limits only count what they would deny, and deny nothing.',
    value: { type: 'switch' },
  }),
  caseInsensitive: fieldOf({
    about:
      'Whether paths are compared without the difference between upper and lower case, as Express does. Default: false.',
    value: { type: 'switch' },
  }),
};

/** The fields of a rule of both kinds of tables. */
export const RULE_FIELDS: Readonly<Record<'limit' | 'shadow', Field>> = {
  limit: fieldOf({ about: 'The name of the limit, as in the file of limits.', value: { type: 'name of a limit' } }),
  shadow: fieldOf({
    about: 'Whether this limit only counts what it would deny, and denies nothing.',
    value: { type: 'switch' },
  }),
};
