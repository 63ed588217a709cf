import {
  CALENDAR_UNITS,
  checkedTenants,
  MAX_CLASSES,
  MAX_SLOTS,
  MAX_TOKENS,
  SLOT_SCOPES,
  type LimitKind,
} from '@sluice/core/kit';
import type { Field } from './field.ts';
import { leaseField, loadTimeField, periodField, waitField } from './duration-fields.ts';
import { boundsField, mappingField, partsField, sourceField } from './nested-fields.ts';
import { countField, debtField, overshootField, signalField, tokensField, weightField } from './number-fields.ts';
import { choiceField, limitField, markField, nameField, switchField, textField } from './word-fields.ts';

// The fields of both files. The loader's checks and the JSON Schemas for editors are derived from them.

type FieldTable = Readonly<Record<string, Field>>;

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
export const CEILING_FIELDS: FieldTable = { burst, count, period };

const EXACT = switchField('Decides exactly, by a call of the store for each request. That is the default.');

/** The fields of a rate that decide whether it is exact. */
export const EXACTNESS_FIELDS: Readonly<Record<'overshoot' | 'exact', Field>> = {
  overshoot: overshootField(
    'How far all processes together may exceed the limit, as a part of its burst, so that a store with leases decides most requests in the process.',
  ),
  exact: EXACT,
};

const CONCURRENCY = countField('How many requests may be in progress at the same time.', MAX_SLOTS, '10');

/** The options of a load: those of `eventLoop()` in code, without its function. */
export const LOAD_FIELDS: FieldTable = {
  calm: signalField('The utilization of the event loop below which the level falls. Default: 0.7.', '0.7'),
  busy: signalField('The utilization of the event loop above which the level rises. Default: 0.8.', '0.8'),
  rise: loadTimeField(
    'rise',
    'In how long the level rises from 0 to 1 at a utilization of 1, from 500ms to 10m. Default: 3s.',
  ),
  fall: loadTimeField('fall', 'In how long the level falls from 1 to 0, from 1s to 1h. Default: 60s.'),
  every: loadTimeField('every', 'How often the utilization is read, from 100ms to 60s, at most rise. Default: 250ms.'),
  classes: countField(
    'In how many classes of equal width requests are shed, by their share. Default: one for each share.',
    MAX_CLASSES,
    '4',
  ),
};

/** The fields of a limit with its numbers, by its kind. */
export const KIND_FIELDS: Readonly<Record<LimitKind, FieldTable>> = {
  rate: {
    ...NUMBERS,
    atMost: boundsField(
      'The most tokens that may be taken in any window of a length, such as 1000: 1h. The numbers of the limit and its overrides must not allow more.',
      WINDOW_FIELD,
    ),
    borrow: mappingField('How the limit borrows from a pool when its own tokens are used up.', BORROW_FIELDS, [
      'from',
      'ceiling',
    ]),
    ...EXACTNESS_FIELDS,
  },
  quota: {
    exact: EXACT,
    count: countField(COUNT, MAX_TOKENS, '10000'),
    per: choiceField(
      'The calendar period at whose end all tokens come back. It makes the limit a quota: count tokens for each period.',
      CALENDAR_UNITS,
      'month',
    ),
    timeZone: textField('The time zone of the calendar of a quota. Default: UTC.', 'Europe/Berlin'),
    anchor: textField(
      'The date from which the periods of a quota are counted: 2026-01-31 gives 28 February and 31 March.',
      '2026-01-31',
      String.raw`^\d{4}-\d{2}-\d{2}$`,
    ),
    warnAt: partsField('Thresholds, as parts of the quota, at which an event is emitted, such as [0.8, 1].'),
  },
  concurrency: {
    exact: EXACT,
    concurrency: CONCURRENCY,
    lease: leaseField(
      'The time after which the slots of a process that died are free again, from 1s to 1h. Default: 10s.',
    ),
    scope: choiceField(
      'Whether all processes that share the store count together, or each process by itself. Default: store.',
      SLOT_SCOPES,
      'process',
    ),
    block: countField(
      'How many slots a process takes from the store at a time: from 1 to concurrency. Default: 1.',
      MAX_SLOTS,
      '10',
    ),
  },
  load: {
    load: sourceField(
      'The load of each process: while it has too much to do, it denies a part of the requests.',
      'eventLoop',
      LOAD_FIELDS,
    ),
  },
};

/** The fields of a limit, for editors and for the names of fields. Both kinds with a `count` describe it alike. */
export const LIMIT_FIELDS: FieldTable = {
  ...KIND_FIELDS.rate,
  ...KIND_FIELDS.quota,
  ...KIND_FIELDS.concurrency,
  ...KIND_FIELDS.load,
  idFormat: nameField(
    'The format of the ids. Default: the format of the key in code; for a load without one, clientNetwork.',
    ID_FORMATS,
  ),
  disabled: switchField('Whether the limit is switched off. It then applies to no request.'),
  hidden: switchField('Whether the limit is hidden from clients: no header field and no problem details name it.'),
};

/** The fields of the numbers of an override, by the kind of its limit. A load limit has none. */
export const OVERRIDE_KIND_FIELDS: Readonly<Record<Exclude<LimitKind, 'load'>, FieldTable>> = {
  rate: {
    ...NUMBERS,
    borrow: mappingField('Another ceiling or weight, if the limit borrows.', BORROW_CHANGE_FIELDS, []),
  },
  quota: { count: KIND_FIELDS.quota['count']! },
  concurrency: { concurrency: CONCURRENCY },
};

/** The fields that show the kind of a limit, and are required. */
export const NEEDED_FIELDS: Readonly<Record<LimitKind, readonly string[]>> = {
  rate: ['count', 'period'],
  quota: ['count', 'per'],
  concurrency: ['concurrency'],
  load: ['load'],
};

/** The fields of the numbers of an override. */
export const OVERRIDE_NUMBERS: FieldTable = {
  ...OVERRIDE_KIND_FIELDS.rate,
  ...OVERRIDE_KIND_FIELDS.concurrency,
};

/** The fields of an override, beside its ids. */
export const OVERRIDE_FIELDS: FieldTable = {
  ...OVERRIDE_NUMBERS,
  unlimited: markField('Lets all requests of the ids through. Replaces the numbers.'),
  blocked: markField('Denies all requests of the ids. Replaces the numbers.'),
};

/** The fields of the numbers of a rate. */
export const NUMBER_NAMES = ['burst', 'count', 'period', 'maxDebt', 'maxWait'] as const;

/** The fields of an override that replace the numbers. */
export const MARK_NAMES = ['unlimited', 'blocked'] as const;

/** The fields of an id with a comment. */
export const ID_NAMES = ['id', 'comment'] as const;
