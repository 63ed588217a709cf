import { DEFAULT_NAME } from '../shown-names.ts';

/** One limit in the two list fields of draft 11: its state and its policy. */
export interface LimitMembers {
  readonly name: string;
  /** Undefined when the state is not reported. */
  readonly state: string | undefined;
  readonly policy: string;
}

// An unclosed string extends to the end of the field: searching for its end from each quote would take quadratic time.
const QUOTED_OR_PLAIN = /(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g;

/** Splits a list field into its members (RFC 9651 section 3.1). Commas within quotes do not separate. */
export function membersOf(list: string): string[] {
  return (list.match(QUOTED_OR_PLAIN) ?? []).map((member) => member.trim()).filter((member) => member !== '');
}

/** Returns the name of a member: the string that it starts with. */
export function nameOf(member: string): string | undefined {
  return /^"((?:[^"\\]|\\.)*)"/.exec(member)?.[1];
}

/**
 * Gives a limit without a name of its own another one, if the response already has a limit of that name with other
 * numbers: two middlewares without names are two policies, `default` and `default-2`. Equal numbers are one policy.
 *
 * @param policies - Those that are already set.
 */
export function namedApart(member: LimitMembers, policies: readonly string[]): LimitMembers {
  if (member.name !== DEFAULT_NAME || !policies.some((policy) => nameOf(policy) === DEFAULT_NAME)) return member;
  for (let n = 1; ; n++) {
    const name = n === 1 ? DEFAULT_NAME : `${DEFAULT_NAME}-${n}`;
    const policy = renamed(member.policy, name);
    const taken = policies.find((other) => nameOf(other) === name);
    if (taken === undefined || taken === policy) {
      return { name, policy, state: member.state === undefined ? undefined : renamed(member.state, name) };
    }
  }
}

function renamed(text: string, name: string): string {
  return text.replace(`"${DEFAULT_NAME}"`, `"${name}"`);
}

/** Members by their names. One of other code may have only a state, or only a policy. */
export type ListedLimit = Omit<LimitMembers, 'policy'> & { readonly policy: string | undefined };

/**
 * Combines members with those that are already set, which all have names. Each name is listed once: of two states of
 * one limit, the stricter one is kept, with its policy.
 *
 * @param dropped - Names whose states are removed, since a denial lists only the limits that denied.
 */
export function joinedMembers(
  present: { readonly states: readonly string[]; readonly policies: readonly string[] },
  ours: readonly LimitMembers[],
  dropped: ReadonlySet<string>,
): ListedLimit[] {
  const joined = new Map<string, ListedLimit>();
  for (const policy of present.policies) {
    const name = nameOf(policy)!;
    joined.set(name, { name, policy, state: undefined });
  }
  for (const state of present.states) {
    const name = nameOf(state)!;
    if (!dropped.has(name)) joined.set(name, { name, policy: joined.get(name)?.policy, state });
  }
  for (const member of ours) {
    const { policy, state } = joined.get(member.name) ?? {};
    if (member.state === undefined) joined.set(member.name, { ...member, state });
    else if (state === undefined || policy === undefined || isStricter(member.state, state))
      joined.set(member.name, member);
  }
  return [...joined.values()];
}

/** Returns the name of the limit with the strictest state; undefined if there is no state. */
export function strictestName(members: readonly ListedLimit[]): string | undefined {
  const stated = members.filter(({ state }) => state !== undefined);
  if (stated.length === 0) return undefined;
  return stated.reduce((one, other) => (isStricter(other.state!, one.state!) ? other : one)).name;
}

// Fewer tokens are stricter; with equal tokens, the longer time until the next one.
function isStricter(state: string, than: string): boolean {
  const [ours, theirs] = [parameter(state, 'r'), parameter(than, 'r')];
  return ours === theirs ? parameter(state, 't') > parameter(than, 't') : ours < theirs;
}

function parameter(member: string, name: string): number {
  return Number(new RegExp(`; *${name}=([0-9]+)`).exec(member)?.[1] ?? 0);
}
