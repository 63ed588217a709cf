import { complaint, shownName, SluiceError } from '../checks/errors.ts';
import { checkFailurePolicy } from '../failure/failure-options.ts';
import type { FailurePolicy } from './failure-policy.ts';
import { isKey, type Key } from '../keys/key.ts';
import { checkBoolean, checkOptions, isPlainObject } from '../checks/options.ts';
import { LIMIT_HINTS } from '../checks/peer-names.ts';
import { rateOf, type LimitNumbers, type Rate } from '../rule/rate.ts';

/** A named policy: `count` tokens come back every `period`, at most `burst` are ever there. */
export interface LimitDefinition<Request = unknown> extends LimitNumbers {
  /** How the limit gets its id from a request: `ipAddress()`, `clientNetwork()`, `accountId((req) => …)`. */
  readonly key: Key<Request>;
  /** What holds while the store can't answer. Default: the limiter's `failure.onFailure`. */
  readonly onFailure?: FailurePolicy | undefined;
  /** Switches the limit off: it lets every request through, uncounted, until it is switched on. Default: false. */
  readonly disabled?: boolean | undefined;
  /** Decides as every limit does, but clients are not told: no field and no problem details name it. Default: false. */
  readonly hidden?: boolean | undefined;
}

/** Definitions by name. A name is `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters, unique ignoring case. */
export type LimitDefinitions<Request = unknown, Name extends string = string> = {
  readonly [Each in Name]: LimitDefinition<Request>;
};

/** A definition that was checked, on the time grid. */
export interface Limit<Request = unknown> {
  readonly name: string;
  readonly key: Key<Request>;
  readonly rate: Rate;
  readonly onFailure: FailurePolicy;
  readonly disabled: boolean;
  readonly hidden: boolean;
}

/** What a limit's name looks like. */
export const LIMIT_NAME_PATTERN: RegExp = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const FIELDS = ['key', 'burst', 'count', 'period', 'onFailure', 'disabled', 'hidden'] as const;

/**
 * Checks definitions and puts them on the time grid.
 *
 * @throws {SluiceError} for the first thing that is wrong: a name, a missing key, a number out of range, an unknown
 * field.
 */
export function defineLimits<Request>(
  definitions: LimitDefinitions<Request>,
  onFailure: FailurePolicy,
): ReadonlyMap<string, Limit<Request>> {
  if (!isPlainObject(definitions)) {
    const remedy = "For example limits: { Requests: { key: clientNetwork(), count: 100, period: '1m' } }.";
    throw complaint('ERR_OPTION', {
      option: 'limits',
      demand: 'an object of limits by name',
      value: definitions,
      remedy,
    });
  }
  const limits = new Map<string, Limit<Request>>();
  const spellings = new Map<string, string>();
  for (const [name, definition] of Object.entries<LimitDefinition<Request>>(definitions)) {
    const other = spellings.get(name.toLowerCase());
    if (other !== undefined) {
      throw new SluiceError(
        'ERR_LIMIT',
        `\`limits\` has both \`${other}\` and \`${shownName(name)}\`: names must differ by more than case.`,
      );
    }
    spellings.set(name.toLowerCase(), name);
    limits.set(name, defineLimit(name, definition, onFailure));
  }
  return limits;
}

/**
 * Refuses a name that could not stand in a header field or a bucket key.
 *
 * @throws {SluiceError} `ERR_LIMIT`.
 */
export function checkLimitName(option: string, name: unknown): asserts name is string {
  if (typeof name === 'string' && LIMIT_NAME_PATTERN.test(name)) return;
  throw complaint('ERR_LIMIT', {
    option,
    demand: 'a letter followed by letters, digits, `_`, `.` or `-`, at most 64 characters',
    value: name,
    remedy: 'Clients see the name in header fields. For example OrdersPerAccount.',
  });
}

function defineLimit<Request>(
  name: string,
  definition: LimitDefinition<Request>,
  onFailure: FailurePolicy,
): Limit<Request> {
  checkLimitName('limits', name);
  const where = `limits.${name}`;
  checkOptions(where, definition, FIELDS, LIMIT_HINTS, "{ key: clientNetwork(), count: 100, period: '1m' }");
  if (!isKey(definition.key)) {
    throw complaint('ERR_KEY', {
      option: `${where}.key`,
      demand: 'a key',
      value: definition.key,
      remedy:
        'It gets the id that is limited from a request, e.g. key: clientNetwork() or key: accountId((req) => req.user?.id ?? null).',
    });
  }
  const { onFailure: policy = onFailure, disabled = false, hidden = false } = definition;
  checkBoolean(`${where}.disabled`, disabled);
  checkBoolean(`${where}.hidden`, hidden);
  return {
    name,
    key: definition.key,
    rate: rateOf(where, definition),
    onFailure: checkFailurePolicy(`${where}.onFailure`, policy),
    disabled,
    hidden,
  };
}
