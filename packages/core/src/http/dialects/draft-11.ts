import { Decision } from '../../decision/decision.ts';
import type { Result } from '../../decision/result.ts';
import { periodLeft, type PeriodLeft } from '../../decision/period-left.ts';
import type { Answered } from '../../decision/batch-answer.ts';
import { readyTicks, type Transaction } from '../../decision/transaction.ts';
import { remainingTokens, waitForNextToken } from '../../rule/gcra.ts';
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
    const presentState = fields.getField(STATE);
    const presentPolicy = fields.getField(POLICY);
    const answer = Decision.answerOf(decision) as Answered;
    const shown = { decision, queuedTicks: queuedMs * TICKS_PER_MS };
    const isFirst = presentState === undefined && presentPolicy === undefined;
    // The figures of a limit that decides alone are those of the decision: its result is not made for this.
    if (isFirst && answer.batch.length === 1) return writeOne(memberOf(answer, 0, decision, shown), fields);
    const members = limitMembers(answer, shown);
    if (isFirst) return writeAll(members.length > FEW ? mostImportant(members, decision) : members, fields);
    const present = {
      states: membersOf(String(presentState ?? '')),
      policies: membersOf(String(presentPolicy ?? '')),
    };
    join(present, decision, members, fields);
  },
};

function writeOne({ policy, state }: LimitMembers, fields: ResponseFields): void {
  fields.setField(POLICY, policy);
  // A limit that decides alone always has one.
  fields.setField(STATE, state!);
}

function writeAll(members: readonly ListedLimit[], fields: ResponseFields): void {
  fields.setField(POLICY, listOf(members, 'policy'));
  fields.setField(STATE, listOf(members, 'state'));
}

/** As many limits as always fit: a member of ours has at most 110 characters, 64 of them its name. */
const FEW = 8;

/** All members if they fit into both fields; otherwise the strictest, then those that denied, then others. */
function mostImportant(members: readonly ListedLimit[], decision: Decision): readonly ListedLimit[] {
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
function limitMembers(answer: Answered, shown: Shown): LimitMembers[] {
  const { results } = shown.decision;
  // A loop over a preallocated array: see docs/hot-path.md.
  // oxlint-disable-next-line unicorn/no-new-array
  const members = new Array<LimitMembers>(results.length);
  for (let i = 0; i < results.length; i++) members[i] = memberOf(answer, i, results[i]!, shown);
  return members;
}

/** The decision that is shown, and for how long its request was queued. */
interface Shown {
  readonly decision: Decision;
  readonly queuedTicks: number;
}

/** What is shown of a limit, of its result. */
type Figures = Pick<Result, 'allowed' | 'remaining' | 'resetAfterMs'>;

function memberOf({ batch, reading }: Answered, i: number, figures: Figures, shown: Shown): LimitMembers {
  const transaction = batch[i]!;
  const { queuedTicks } = shown;
  const { allowed } = shown.decision;
  const { limit: name, rate } = transaction;
  const hasState = allowed || !figures.allowed;
  if (transaction.slots === true) {
    const state = hasState ? `"${name}";r=${figures.remaining}` : undefined;
    return { name, state, policy: `"${name}";q=${rate.burst};qu="concurrent-requests"` };
  }
  const before = reading.levelsTicks[i]!;
  // Not by `spent`: a charge may take less than a whole token.
  const after = allowed ? levelAfter(transaction, before) : before;
  const period = transaction.calendar === undefined ? undefined : periodLeft(transaction, reading, i);
  if (period !== undefined) return quotaMember(transaction, figures, { period, hasState, queuedTicks });
  const level = queuedTicks === 0 ? after : Math.max(0, after - queuedTicks);
  const { emissionIntervalTicks } = rate;
  const left =
    queuedTicks === 0 ? figures.remaining : remainingTokens(level, emissionIntervalTicks, readyTicks(transaction));
  const policy = policyOf(name, rate);
  const until = level === 0 || policy.isShort ? '' : untilNext(level, transaction);
  return { name, state: hasState ? `"${name}";r=${left}${until}` : undefined, policy: policy.text };
}

/** A week and a day, for weeks in which the clock changes. Months and years have no fixed length. */
const LONGEST_WEEK_MS = 8 * 86_400_000;

interface QuotaState {
  readonly period: PeriodLeft;
  readonly hasState: boolean;
  readonly queuedTicks: number;
}

function quotaMember({ limit, rate }: Transaction, figures: Figures, { period, ...state }: QuotaState): LimitMembers {
  const { startMs, endMs, leftTicks } = period;
  const until = figures.resetAfterMs === 0 ? '' : `;t=${ceilToSeconds(Math.max(0, leftTicks - state.queuedTicks))}`;
  const lengthMs = endMs - startMs;
  const length = lengthMs > LONGEST_WEEK_MS ? '' : `;w=${Math.ceil(lengthMs / 1000)}`;
  return {
    name: limit,
    state: state.hasState ? `"${limit}";r=${figures.remaining}${until}` : undefined,
    policy: `"${limit}";q=${rate.burst}${length}`,
  };
}

function untilNext(level: number, transaction: Transaction): string {
  const { emissionIntervalTicks } = transaction.rate;
  return `;t=${ceilToSeconds(waitForNextToken(level, emissionIntervalTicks, readyTicks(transaction)))}`;
}

/** What a limit shows that does not change. */
interface Policy {
  readonly limit: string;
  readonly text: string;
  /** Whether the bucket fills within a second. */
  readonly isShort: boolean;
}

// Each response contains this text, and it never changes. Few limits share a rate.
const policies = new WeakMap<Numbers, Policy>();

function policyOf(limit: string, rate: Numbers): Policy {
  let policy = policies.get(rate);
  if (policy?.limit !== limit) {
    const { burst, toleranceTicks } = rate;
    const isShort = fillsWithinASecond(rate);
    const length = isShort ? '' : `;w=${ceilToSeconds(toleranceTicks)}`;
    policy = { limit, text: `"${limit}";q=${burst}${length}`, isShort };
    policies.set(rate, policy);
  }
  return policy;
}

// Computed from the configured numbers: with T rounded down to a tick, a bucket of 7 per second would fill within a
// second.
function fillsWithinASecond({ burst, count, periodMs }: Numbers): boolean {
  return burst * periodMs < count * 1000;
}

function listOf(members: readonly ListedLimit[], part: 'state' | 'policy'): string {
  let list = '';
  for (const { [part]: text } of members) if (text !== undefined) list = list === '' ? text : `${list}, ${text}`;
  return list;
}

interface Present {
  readonly states: readonly string[];
  readonly policies: readonly string[];
}

function join(present: Present, decision: Decision, members: readonly LimitMembers[], fields: ResponseFields): void {
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
