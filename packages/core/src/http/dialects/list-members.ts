/** One limit in the two list fields of draft 11: its state and its policy. */
export interface LimitMembers {
  readonly name: string;
  /** Left out when this limit's state is not told. */
  readonly state: string | undefined;
  readonly policy: string;
}

// A string that nobody closed goes to the end: looking for its end from every quote would take the square of the time.
const QUOTED_OR_PLAIN = /(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g;

/** The members of a list field, as they stand (RFC 9651 section 3.1): commas within quotes do not count. */
export function membersOf(list: string): string[] {
  return (list.match(QUOTED_OR_PLAIN) ?? []).map((member) => member.trim()).filter((member) => member !== '');
}

/** The name of a member: the string it starts with. */
export function nameOf(member: string): string | undefined {
  return /^"((?:[^"\\]|\\.)*)"/.exec(member)?.[1];
}

/**
 * Joins members with those that are there, which all have names. A name is listed once: of two states of one limit the stricter stays, with
 * its policy.
 *
 * @param dropped - Names whose states go, since a refusal lists only the limits that denied.
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

// Fewer tokens are stricter; of equally many those that take longer.
function isStricter(state: string, than: string): boolean {
  const [ours, theirs] = [parameter(state, 'r'), parameter(than, 'r')];
  return ours === theirs ? parameter(state, 't') > parameter(than, 't') : ours < theirs;
}

function parameter(member: string, name: string): number {
  return Number(new RegExp(`; *${name}=([0-9]+)`).exec(member)?.[1] ?? 0);
}
