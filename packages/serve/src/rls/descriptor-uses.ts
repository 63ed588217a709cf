import type { IdFormat, SluiceError } from '@sluice/core';
import { MAX_TOKENS } from '@sluice/core/kit';
import type { Use } from '../deciding/use.ts';
import { canonicalId } from '../ids/canonical-id.ts';
import { descriptorId } from '../ids/descriptor-id.ts';
import type { EnvoyRule, EnvoyTable } from '../tables/table.ts';
import type { Descriptor } from './request.ts';

/** What applies to one descriptor: nothing, a denial that no store is asked for, or a use of a bucket. */
export type DescriptorUse = 'passes' | 'blocked' | 'invalid' | 'too-large' | Use;

/**
 * Returns what applies to each descriptor of a request, in their order.
 *
 * @param table - Undefined for a domain that is not known: nothing applies.
 */
export function descriptorUses(
  descriptors: readonly Descriptor[],
  table: EnvoyTable | undefined,
  formats: ReadonlyMap<string, IdFormat>,
): readonly DescriptorUse[] {
  if (table === undefined) return descriptors.map(() => 'passes');
  const rules = descriptors.map(({ entries }) => table.tree.find(entries));
  const replaced = replacedBy(rules);
  const uses = descriptors.map((descriptor, i): DescriptorUse => {
    const rule = rules[i];
    if (rule === undefined || rule.effect === 'unlimited') return 'passes';
    if (rule.effect === 'blocked') return rule.shadow ? 'passes' : 'blocked';
    if (replaced.size > 0 && replaced.has(rule.limit!)) return 'passes';
    return limitUse(rule, descriptor, formats.get(rule.limit!)!);
  });
  // Nothing is taken for a request that is denied in any case.
  return uses.includes('blocked') || uses.includes('too-large') ? uses.map(asCheck) : uses;
}

const NONE: ReadonlySet<string> = new Set();

function replacedBy(rules: readonly (EnvoyRule | undefined)[]): ReadonlySet<string> {
  if (rules.every((rule) => rule === undefined || rule.replaces.size === 0)) return NONE;
  return new Set(rules.flatMap((rule) => [...(rule?.replaces ?? [])]));
}

function limitUse(rule: EnvoyRule, descriptor: Descriptor, format: IdFormat): DescriptorUse {
  const { limit, shadow, report } = rule;
  const { hits, isNegative } = descriptor;
  const kind = hits === 0 ? 'check' : isNegative ? 'refund' : report === 'charge' ? 'charge' : 'spend';
  if (hits > MAX_TOKENS && kind === 'spend' && !shadow) return 'too-large';
  try {
    const id = canonicalId(format, descriptorId(rule, descriptor.entries, format));
    // A check asks whether one more hit would pass.
    return id === null ? 'passes' : { limit: limit!, id, cost: Math.min(Math.max(1, hits), MAX_TOKENS), kind, shadow };
  } catch (error) {
    if ((error as SluiceError).code !== 'ERR_ID') throw error;
    return shadow ? 'passes' : 'invalid';
  }
}

function asCheck(use: DescriptorUse): DescriptorUse {
  return typeof use === 'object' && use.kind === 'spend' ? { ...use, kind: 'check' } : use;
}
