// The room definitions: limits and overrides as a user writes them, validated together.
import { checkOptions, entriesOf, isPlainObject } from '../checks/options.ts';
import { provide } from '../store/provided.ts';
import type { StoreCalls } from '../store/store-calls.ts';
import { complaint, shownName, SluiceError } from '../checks/errors.ts';
import { LIMIT_HINTS } from '../checks/peer-names.ts';
import { isEveryone } from '../keys/everyone.ts';
import { isKey } from '../keys/key.ts';
import { kindOf } from '../kinds/limit-of-kind.ts';
import { RATE } from '../kinds/rate/rate.ts';
import { checkGiven, type OptionTable } from '../limits/option.ts';
import { checkFailurePolicy, type FailurePolicy } from '../limits/failure-policy.ts';
import { levelsFrom } from '../limits/levels.ts';
import type { Limit } from '../limits/limit.ts';
import { Treatment } from '../limits/treatment.ts';
import type { LimitSettings } from '../limits/limit-settings.ts';
import { rejectOtherKinds } from './kind-hints.ts';
import type { LimitDefinition, Limits } from './limit-definition.ts';
import { checkLimitName } from '../limits/limit-name.ts';

/** The options that limits of all kinds have, in code and in files. */
export const LIMIT_ROWS: OptionTable<Omit<LimitSettings, 'key' | 'onFailure'>> = {
  disabled: {
    about: 'Whether the limit is switched off. It then applies to no request.',
    value: { type: 'switch' },
  },
  hidden: {
    about: 'Whether the limit is hidden from clients: no header field and no problem details name it.',
    value: { type: 'switch' },
  },
};

/**
 * Validates definitions and converts their numbers to ticks.
 *
 * @param calls - How the limiter calls its store.
 * @throws {SluiceError} For the first invalid name, key, number or unknown property.
 */
export function defineLimits<Request>(
  definitions: Limits<Request>,
  onFailure: FailurePolicy,
  calls?: StoreCalls,
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
    limits.set(name, defineLimit(name, definition, { onFailure, calls }));
  }
  return limits;
}

function defineLimit<Request>(
  name: string,
  definition: LimitDefinition<Request>,
  { onFailure, calls }: { readonly onFailure: FailurePolicy; readonly calls: StoreCalls | undefined },
): Limit<Request> {
  checkLimitName('name of a limit', name);
  const where = `limits.${name}`;
  const kind = isPlainObject(definition) ? kindOf(where, definition) : RATE;
  rejectOtherKinds(where, definition, kind);
  const fields = ['key', 'onFailure', ...Object.keys(LIMIT_ROWS), ...Object.keys(kind.options)];
  checkOptions(where, definition, fields, LIMIT_HINTS, "{ key: clientNetwork(), count: 100, period: '1m' }");
  const {
    key = kind.key,
    onFailure: policy = onFailure,
    disabled = false,
    hidden = false,
  } = definition as Partial<LimitSettings<Request>>;
  if (!isKey(key)) throw notAKey(where, key);
  checkGiven(LIMIT_ROWS, where, definition);
  const parts = kind.define(definition as never, { where, name, ...(calls && { calls }) });
  if (kind.provides !== undefined) provide(kind.provides);
  const { rate, bounds, periods, isStored, own } = parts;
  const levels = levelsFrom(rate, rate);
  // Written out, so that limits of all kinds have one hidden class: a spread creates others.
  return {
    name,
    key,
    kind,
    rate,
    levels,
    stored: levels,
    bounds,
    periods,
    isStored,
    own,
    disabled,
    treatment: new Treatment({
      ...parts,
      isPlain: kind.level === 'falls' || kind.level === 'resets',
      onFailure: checkFailurePolicy(`${where}.onFailure`, policy),
      hidden: hidden || kind.level === 'own',
      part: 'whole',
      borrowing: undefined,
      sheds: kind.level === 'own' || (kind.level === 'held' && isEveryone(key)),
    }),
  };
}

function sameName(one: string, other: string): SluiceError {
  return new SluiceError(
    'ERR_LIMIT',
    `has both \`${one}\` and \`${shownName(other)}\`: names must differ by more than case.`,
    { path: 'limits' },
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
