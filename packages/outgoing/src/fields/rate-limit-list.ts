import { amountIn } from './figures.ts';
import { fieldOf, type FieldSource } from './field-source.ts';
import type { Dialect, Lesson } from './lesson.ts';
import { membersIn, unquoted, type Member } from './members.ts';
import { waitIn } from './wait.ts';

/**
 * `RateLimit` as a list, of draft-ietf-httpapi-ratelimit-headers-08 to -11 (section "RateLimit Field"): `r` is left, and in `t`
 * seconds there is more. `a` and `w` are the same in a proposed change (ratelimit-headers #166), whose `c`, the cost of the
 * request itself, says nothing about the next one. `RateLimit-Policy` says what is counted.
 */
export const rateLimitList: Dialect = {
  name: 'RateLimit, drafts 8 to 11',
  read(fields, nowMs) {
    const list = fieldOf(fields, 'ratelimit');
    if (list === undefined) return [];
    const units = unitsIn(fields);
    return membersIn(list).flatMap((member) => lessonsOf(member, units.get(member.name) ?? 'requests', nowMs));
  },
};

function lessonsOf({ name, parameters }: Member, unit: Lesson['unit'], nowMs: number): readonly Lesson[] {
  const remaining = amountIn(parameters.get('r') ?? parameters.get('a'));
  if (remaining === undefined) return [];
  return [{ of: name, unit, remaining, waitMs: waitIn(parameters.get('t') ?? parameters.get('w'), nowMs) }];
}

function unitsIn(fields: FieldSource): ReadonlyMap<string, Lesson['unit']> {
  const policies = membersIn(fieldOf(fields, 'ratelimit-policy') ?? '');
  return new Map(policies.map(({ name, parameters }) => [name, unitOf(unquoted(parameters.get('qu')))]));
}

function unitOf(text: string | undefined): Lesson['unit'] {
  return text === undefined || text === 'requests' ? 'requests' : 'other';
}
