import type { IdFormat, SluiceError } from '@sluice/core';
import { withLargestCosts, type RequestUse } from '../deciding/use.ts';
import { canonicalId } from '../ids/canonical-id.ts';
import { descriptorId } from '../ids/descriptor-id.ts';
import { MAX_RULES } from '../spellings/spellings.ts';
import { MAX_COST, type EnvoyRule, type EnvoyTable } from '../tables/table.ts';
import type { Descriptor } from './request.ts';

/** What applies to one descriptor: nothing, a denial that no store is asked for, or a use of a bucket. */
export type DescriptorUse = 'passes' | 'blocked' | 'invalid' | RequestUse;

/** The rules that apply to a descriptor: several if servers may understand it in several ways. Undefined for none. */
type Rules = readonly (EnvoyRule | undefined)[];

/** What the uses of descriptors are made with. */
interface DescriptorParts {
  readonly formats: ReadonlyMap<string, IdFormat>;
  /** Called if servers may understand a descriptor in more ways than are known. */
  readonly onUnknown: () => void;
}

/**
 * Returns what applies to each descriptor of a request, in their order. A descriptor has several uses, all different, if
 * servers may understand it in several ways.
 *
 * @param table - Undefined for a domain that is not known: nothing applies.
 */
export function descriptorUses(
  descriptors: readonly Descriptor[],
  table: EnvoyTable | undefined,
  { formats, onUnknown }: DescriptorParts,
): readonly (readonly DescriptorUse[])[] {
  if (table === undefined) return descriptors.map(() => PASSES);
  const rules = descriptors.map(({ entries }) => table.tree.find(entries, onUnknown));
  const replaced = replacedBy(rules);
  const uses = descriptors.map((descriptor, i) => {
    const [only, ...others] = rules[i]!;
    if (others.length === 0) return [useOf(only, descriptor, { replaced, formats })];
    return severalUses(rules[i]!, descriptor, { replaced, formats });
  });
  // Nothing is taken for a request that is denied in any case.
  return uses.some((each) => each.includes('blocked')) ? uses.map((each) => each.map(asCheck)) : uses;
}

const PASSES: readonly DescriptorUse[] = ['passes'];

interface Context {
  readonly replaced: ReadonlySet<string>;
  readonly formats: ReadonlyMap<string, IdFormat>;
}

function useOf(rule: EnvoyRule | undefined, descriptor: Descriptor, { replaced, formats }: Context): DescriptorUse {
  if (rule === undefined || rule.effect === 'unlimited') return 'passes';
  if (replaced.size > 0 && replaced.has(rule.limit ?? rule.name ?? '')) return 'passes';
  if (rule.effect === 'blocked') return rule.shadow ? 'passes' : 'blocked';
  return limitUse(rule, descriptor, formats.get(rule.limit!)!);
}

/** All limits apply. An exemption does not: not every server would understand the descriptor so. */
function severalUses(rules: Rules, descriptor: Descriptor, context: Context): readonly DescriptorUse[] {
  if (rules.length > MAX_RULES) return ['invalid'];
  const uses = rules.filter((rule) => rule?.shadow !== true).map((rule) => useOf(rule, descriptor, context));
  const ofBuckets = withLargestCosts(uses.filter((use) => typeof use === 'object'));
  const all = [...new Set(uses.filter((use) => typeof use === 'string' && use !== 'passes')), ...ofBuckets];
  return all.length === 0 ? PASSES : all;
}

const NONE: ReadonlySet<string> = new Set();

/** A descriptor replaces the limits that each of its rules replaces. */
function replacedBy(rules: readonly Rules[]): ReadonlySet<string> {
  if (rules.every(([rule]) => rule === undefined || rule.replaces.size === 0)) return NONE;
  return new Set(rules.flatMap(([first, ...others]) => replacedByAll(first, others)));
}

function replacedByAll(first: EnvoyRule | undefined, others: Rules): readonly string[] {
  return [...(first?.replaces ?? [])].filter((limit) => others.every((rule) => rule?.replaces.has(limit) === true));
}

function limitUse(rule: EnvoyRule, descriptor: Descriptor, format: IdFormat): DescriptorUse {
  const { limit, shadow, report } = rule;
  const { hits, isNegative } = descriptor;
  const kind = hits === 0 ? 'check' : isNegative ? 'refund' : report === 'charge' ? 'charge' : 'spend';
  try {
    const id = canonicalId(format, descriptorId(rule, descriptor.entries, format));
    // A check asks whether one more hit would pass. No limit has more tokens than MAX_COST.
    const cost = Math.min(Math.max(1, hits), MAX_COST + 1);
    return id === null ? 'passes' : { limit: limit!, id, cost, kind, shadow };
  } catch (error) {
    if ((error as SluiceError).code !== 'ERR_ID') throw error;
    return shadow ? 'passes' : 'invalid';
  }
}

function asCheck(use: DescriptorUse): DescriptorUse {
  return typeof use === 'object' && use.kind === 'spend' ? { ...use, kind: 'check' } : use;
}
