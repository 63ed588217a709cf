import type { Decided } from '../../decision/decided.ts';
import { periodLeft } from '../../decision/period-left.ts';
import { resultCount } from '../../decision/results.ts';
import { remainingTokens, waitFor } from '../../rule/gcra.ts';
import type { Numbers } from '../../rule/rate.ts';
import { ceilToSeconds, TICKS_PER_MS } from '../../rule/ticks.ts';
import { levelAfter } from '../../store/transaction-rule.ts';
import { noteShownName, shownNameOf } from '../shown-names.ts';
import type { Dialect, ResponseFields } from './dialect.ts';
import { fitting, MOST_IN_FIELD } from './fitting.ts';
import {
  joinedMembers,
  membersOf,
  namedApart,
  nameOf,
  strictestName,
  type LimitMembers,
  type ListedLimit,
} from './list-members.ts';

const STATE = 'RateLimit';
const POLICY = 'RateLimit-Policy';

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-11. A bucket is mapped to them as follows: `q` is the burst, `w`
 * the time to fill an empty bucket, `r` the whole tokens left, `t` the time until one more is left. A client that sends
 * at most `q` per `w`, or at most `r` and then waits for `t`, is never denied. For a request with a share, `r` and `t`
 * are those of its share, and `q` and `w` those of the bucket, so that only `r` and `t` promise this. `w` and `t` are
 * omitted for a bucket that fills within a second, because whole seconds would be wrong. With a `maxWait`, `r` and `t`
 * count only tokens that are available without a delay, so a client that follows the fields is not delayed.
 *
 * For a quota, `q` is its count, `w` the length of the current period, and `t` the time until its end. `w` is omitted
 * for months and years, whose lengths differ. A window of length `w` across the end of a period may contain twice as
 * many requests.
 *
 * For a concurrency limit, `q` is the number of slots with the unit `concurrent-requests`, and `r` those that are free.
 * When the next one will be free is unknown, so there is neither `w` nor `t`.
 */
export const draft11: Dialect = {
  names: [STATE, POLICY],
  write(decision, fields, { queuedMs }) {
    const queuedTicks = queuedMs * TICKS_PER_MS;
    const { batch } = decision;
    const members = batch.length === 1 ? [memberOf(decision, 0, queuedTicks)] : limitMembers(decision, queuedTicks);
    const presentState = fields.getField('ratelimit');
    const presentPolicy = fields.getField('ratelimit-policy');
    if (presentState === undefined && presentPolicy === undefined) {
      if (batch.length > 1) return writeAll(members.length > FEW ? mostImportant(members, decision) : members, fields);
      fields.setField(POLICY, members[0]!.policy);
      // A limit that decides alone always has a state.
      return fields.setField(STATE, members[0]!.state!);
    }
    const present = {
      states: membersOf(String(presentState ?? '')),
      policies: membersOf(String(presentPolicy ?? '')),
    };
    join(present, decision, members, fields);
  },
};

function writeAll(members: readonly ListedLimit[], fields: ResponseFields): void {
  let policies = '';
  let states = '';
  for (const { policy, state } of members) {
    if (policy !== undefined) policies = policies === '' ? policy : `${policies}, ${policy}`;
    if (state !== undefined) states = states === '' ? state : `${states}, ${state}`;
  }
  fields.setField(POLICY, policies);
  fields.setField(STATE, states);
}

/** As many limits as always fit: a member of ours has at most 110 characters, 64 of them its name. */
const FEW = 8;

/** All members if they fit into both fields; otherwise the strictest, then those that denied, then others. */
function mostImportant(members: readonly ListedLimit[], decision: Decided): readonly ListedLimit[] {
  const strictest = new Set([shownNameOf(decision, decision.limit!), strictestName(members)]);
  const denied = new Set(
    decision.results.filter(({ allowed }) => !allowed).map(({ limit }) => shownNameOf(decision, limit)),
  );
  return fitting(members, {
    most: MOST_IN_FIELD,
    rankOf: ({ name }) => (strictest.has(name) ? 0 : denied.has(name) ? 1 : 2),
    textsOf: ({ policy = '', state = '' }) => [policy, state],
  });
}

/** All limits that applied, in the order of the batch. In a denial, only the limits that denied have a state. */
function limitMembers(decision: Decided, queuedTicks: number): LimitMembers[] {
  const { batch } = decision;
  // A loop over a preallocated array, which is faster than map.
  // oxlint-disable-next-line unicorn/no-new-array
  const members = new Array<LimitMembers>(batch.length > 2 ? resultCount(batch) : batch.length);
  for (let i = 0; i < members.length; i++) members[i] = memberOf(decision, i, queuedTicks);
  return members;
}

/** @param queuedTicks - For how long the request was queued. */
function memberOf(decision: Decided, i: number, queuedTicks: number): LimitMembers {
  const { batch, origin } = decision;
  const transaction = batch[i]!;
  const { limit: name, rate } = transaction;
  // A limit that decides alone always has one.
  const hasState = decision.passed === 0 || batch.length === 1 || !decision.results[i]!.allowed;
  const policy = rate.kind.level === 'falls' ? policyOf(name, rate) : undefined;
  const before = decision.levelsTicks[i]!;
  // Not by `spent`: a charge may take less than a whole token.
  const after = decision.passed === 0 && origin.takes ? levelAfter(transaction, before) : before;
  const level = policy === undefined ? after : Math.max(0, after - queuedTicks);
  const ready = Math.min(transaction.fitTicks, rate.toleranceTicks);
  const left = remainingTokens(level, rate.emissionIntervalTicks, ready);
  const { text, until } = policy === undefined ? otherPolicyOf(decision, i, queuedTicks) : policy;
  // Until one more token is left.
  const nextTicks = until === undefined ? waitFor(level, (left + 1) * rate.emissionIntervalTicks, ready) : 0;
  const shown = level === 0 ? '' : (until ?? `;t=${ceilToSeconds(nextTicks)}`);
  return { name, state: hasState ? `"${name}";r=${left}${shown}` : undefined, policy: text };
}

/** The policy of a limit whose level does not fall with time. */
function otherPolicyOf(decision: Decided, i: number, queuedTicks: number): Policy {
  const { limit, rate } = decision.batch[i]!;
  const policy = `"${limit}";q=${rate.burst}`;
  if (rate.kind.level === 'held') return { limit, text: `${policy};qu="${rate.kind.unit}"`, until: '' };
  const { startMs, endMs, leftTicks } = periodLeft(decision.batch[i]!, decision, i)!;
  const lengthMs = endMs - startMs;
  const length = lengthMs > LONGEST_WEEK_MS ? '' : `;w=${Math.ceil(lengthMs / 1000)}`;
  return { limit, text: policy + length, until: `;t=${ceilToSeconds(Math.max(0, leftTicks - queuedTicks))}` };
}

/** A week and a day, for weeks in which the clock changes. Months and years have no fixed length. */
const LONGEST_WEEK_MS = 8 * 86_400_000;

/** What a limit shows that does not depend on its level. */
interface Policy {
  readonly limit: string;
  readonly text: string;
  /** What follows the whole tokens of a used bucket. Undefined where it depends on the level. */
  readonly until: string | undefined;
}

// Each response contains this text, and it never changes. Few limits share a rate.
const policies = new WeakMap<Numbers, Policy>();

function policyOf(limit: string, rate: Numbers): Policy {
  let policy = policies.get(rate);
  if (policy?.limit !== limit) {
    const { burst, toleranceTicks } = rate;
    const isShort = fillsWithinASecond(rate);
    const length = isShort ? '' : `;w=${ceilToSeconds(toleranceTicks)}`;
    policy = { limit, text: `"${limit}";q=${burst}${length}`, until: isShort ? '' : undefined };
    policies.set(rate, policy);
  }
  return policy;
}

// Computed from the configured numbers: with T rounded down to a tick, a bucket of 7 per second would fill within a
// second.
function fillsWithinASecond({ burst, count, periodMs }: Numbers): boolean {
  return burst * periodMs < count * 1000;
}

interface Present {
  readonly states: readonly string[];
  readonly policies: readonly string[];
}

function join(present: Present, decision: Decided, members: readonly LimitMembers[], fields: ResponseFields): void {
  // The fields contain another dialect: two dialects in one field would be unreadable.
  if ([...present.states, ...present.policies].some((member) => nameOf(member) === undefined)) return;
  const apart = members.map((member) => namedApart(member, present.policies));
  for (const [i, { name }] of apart.entries()) if (name !== members[i]!.name) noteShownName(decision, name);
  const joined = joinedMembers(present, apart, fields.decision?.allowed === false ? passed(fields) : new Set());
  writeAll(mostImportant(joined, decision), fields);
}

/** The limits that did not deny, of all middlewares of this request. */
function passed({ decision }: ResponseFields): Set<string> {
  return new Set(decision?.results.filter(({ allowed }) => allowed).map(({ limit }) => limit));
}
