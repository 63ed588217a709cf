import { checkBoolean, checkOptions, entriesOf, isPlainObject } from '../checks/options.ts';
import { complaint, shownName, SluiceError } from '../checks/errors.ts';
import { LIMIT_HINTS } from '../checks/peer-names.ts';
import { isEveryone } from '../keys/everyone.ts';
import { isKey } from '../keys/key.ts';
import { boundsOf, checkBounds } from '../rule/at-most.ts';
import { quotaRateOf, rateOf, type Rate } from '../rule/rate.ts';
import { StoreWall } from '../time/store-wall.ts';
import { systemTime } from '../time/time.ts';
import { borrowTermsOf, ceilingOf } from './borrowing.ts';
import { concurrencyOf } from './concurrency.ts';
import { checkFailurePolicy, type FailurePolicy } from './failure-policy.ts';
import { levelsFrom } from './levels.ts';
import type { Limit } from './limit.ts';
import type { LimitDefinition, LimitDefinitions, QuotaDefinition, RateDefinition } from './limit-definition.ts';
import { KIND_OPTIONS } from './limit-kind.ts';
import { checkLimitName } from './limit-name.ts';
import { loadLimitOf } from './load-limit.ts';
import { overshootOf } from './overshoot.ts';
import { quotaOf } from './quota.ts';

const FIELDS = ['key', 'onFailure', 'disabled', 'hidden', ...KIND_OPTIONS];

/**
 * Validates definitions and converts their numbers to ticks.
 *
 * @param wall - The wall clock by which quotas name their periods. Default: that of this process.
 * @throws {SluiceError} For the first invalid name, key, number or unknown property.
 */
export function defineLimits<Request>(
  definitions: LimitDefinitions<Request>,
  onFailure: FailurePolicy,
  wall: StoreWall = new StoreWall(systemTime),
): ReadonlyMap<string, Limit<Request>> {
  if (!isPlainObject(definitions)) {
    const demand = 'an object of limits by name';
    const remedy = "For example limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } }.";
    throw complaint('ERR_OPTION', { option: 'limits', demand, value: definitions, remedy });
  }
  const limits = new Map<string, Limit<Request>>();
  const spellings = new Map<string, string>();
  for (const [name, definition] of entriesOf<LimitDefinition<Request>>('limits', definitions)) {
    const other = spellings.get(name.toLowerCase());
    if (other !== undefined) throw sameName(other, name);
    spellings.set(name.toLowerCase(), name);
    limits.set(name, defineLimit(name, definition, { onFailure, wall }));
  }
  return limits;
}

function defineLimit<Request>(
  name: string,
  definition: LimitDefinition<Request>,
  { onFailure, wall }: { readonly onFailure: FailurePolicy; readonly wall: StoreWall },
): Limit<Request> {
  checkLimitName('name of a limit', name);
  const where = `limits.${name}`;
  checkOptions(where, definition, FIELDS, LIMIT_HINTS, "{ key: clientNetwork(), count: 100, period: '1m' }");
  const load = loadLimitOf(where, definition);
  const { key = load?.key } = definition;
  if (!isKey(key)) throw notAKey(where, key);
  const { onFailure: policy = onFailure, disabled = false, hidden = false } = definition;
  checkBoolean(`${where}.disabled`, disabled);
  checkBoolean(`${where}.hidden`, hidden);
  const quota = quotaOf(where, name, definition, wall);
  const concurrency = concurrencyOf(where, definition);
  const numbers = concurrency?.rate ?? load?.rate;
  const rate =
    numbers ?? (quota === undefined ? rateOf : quotaRateOf)(where, definition as QuotaDefinition & RateDefinition);
  const onFailureChecked = checkFailurePolicy(`${where}.onFailure`, policy);
  const bounds = boundsOf(`${where}.atMost`, definition.atMost);
  const borrow = borrowTermsOf(where, rate, definition.borrow);
  checkAtMost(where, rate, { rate, bounds, borrow });
  return {
    name,
    key,
    rate,
    levels: levelsFrom(rate, rate),
    bounds,
    disabled,
    treatment: {
      isPlain: concurrency === undefined && load === undefined,
      onFailure: onFailureChecked,
      hidden: hidden || load !== undefined,
      part: 'whole',
      borrowing: undefined,
      sheds: load !== undefined || (concurrency !== undefined && isEveryone(key)),
      slots: concurrency?.slots,
      overshoot: overshootOf(where, definition),
    },
    borrow,
    load: load?.load,
    calendar: quota?.calendar,
    warnAt: quota?.warnAt ?? [],
  };
}

function sameName(one: string, other: string): SluiceError {
  return new SluiceError(
    'ERR_LIMIT',
    `\`limits\` has both \`${one}\` and \`${shownName(other)}\`: names must differ by more than case.`,
  );
}

function notAKey(where: string, value: unknown): SluiceError {
  return complaint('ERR_KEY', {
    option: `${where}.key`,
    demand: 'a key',
    value,
    remedy:
      'It gets the id that is limited from a request, e.g. key: clientNetwork() or key: accountId((req) => req.user?.id ?? null).',
  });
}

/**
 * Rejects numbers of an id that let more tokens through than `atMost` of its limit allows. Where the limit borrows, the
 * ceiling counts: own and borrowed tokens together.
 *
 * @param where - The path of the numbers in error messages.
 * @throws {SluiceError} `ERR_LIMIT`.
 */
export function checkAtMost(
  where: string,
  rate: Rate,
  { rate: own, bounds, borrow }: Pick<Limit<never>, 'rate' | 'bounds' | 'borrow'>,
): void {
  const [path, most] = borrow === undefined ? [where, rate] : [`${where}.borrow.ceiling`, ceilingOf(borrow, rate)];
  checkBounds(path, most, rate.maxDebt ?? own.maxDebt ?? 0, bounds);
}
