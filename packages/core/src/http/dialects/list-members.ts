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
): { states: string[]; policies: string[] } {
  const states = present.states.filter((state) => !dropped.has(nameOf(state)!));
  const policies = [...present.policies];
  for (const { name, state, policy } of ours) {
    const stateIndex = states.findIndex((member) => nameOf(member) === name);
    const policyIndex = policies.findIndex((member) => nameOf(member) === name);
    if (state !== undefined) {
      if (stateIndex >= 0 && policyIndex >= 0 && !isStricter(state, states[stateIndex]!)) continue;
      put(states, stateIndex, state);
    }
    put(policies, policyIndex, policy);
  }
  return { states, policies };
}

function put(members: string[], index: number, member: string): void {
  if (index < 0) members.push(member);
  else members[index] = member;
}

// Fewer tokens are stricter; with equal tokens, the longer time until the next one.
function isStricter(state: string, than: string): boolean {
  const [ours, theirs] = [parameter(state, 'r'), parameter(than, 'r')];
  return ours === theirs ? parameter(state, 't') > parameter(than, 't') : ours < theirs;
}

function parameter(member: string, name: string): number {
  return Number(new RegExp(`; *${name}=([0-9]+)`).exec(member)?.[1] ?? 0);
}
