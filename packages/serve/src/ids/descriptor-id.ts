import type { IdFormat } from '@sluice/core';
import { patternText } from '../tables/envoy-shape.ts';
import type { DescriptorEntry } from '../tables/descriptor-tree.ts';
import type { EnvoyRule } from '../tables/table.ts';

/** The only id of the format `everyone`. */
const EVERYONE = 'everyone';

/**
 * Returns the text of the id of a descriptor: the value of its only key, the parts of a compound format, or else all keys
 * with their values, as in `path=%2Flogin&remote_address=203.0.113.7`.
 *
 * @param entries - Those of a descriptor that matches the rule.
 */
export function descriptorId(rule: EnvoyRule, entries: readonly DescriptorEntry[], format: IdFormat): string {
  if (format.name === EVERYONE) return EVERYONE;
  const { id } = rule;
  if (id === 'rule') return patternText(rule.descriptor);
  const chosen = id === 'descriptor' ? entries : chosenEntries(rule, entries);
  if (chosen.length === 0) return patternText(rule.descriptor);
  if (id !== 'descriptor' && chosen.length === 1) return chosen[0]!.value;
  const parts = format.name.includes('|') ? 1 : format.name.split(':').length;
  if (id !== 'descriptor' && parts === chosen.length) return compoundText(chosen);
  return chosen.map(({ key, value }) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
}

function chosenEntries({ id, descriptor }: EnvoyRule, entries: readonly DescriptorEntry[]): readonly DescriptorEntry[] {
  if (id !== undefined) return entries.filter(({ key }) => id.includes(key));
  return entries.filter((_, i) => descriptor[i]!.value === undefined || descriptor[i]!.isPrefix);
}

/** As the ids of `compound` keys: a `:` in any part but the last is written %3A. */
function compoundText(entries: readonly DescriptorEntry[]): string {
  const last = entries.length - 1;
  return entries
    .map(({ value }, i) => (i === last ? value : value.replaceAll('%', '%25').replaceAll(':', '%3A')))
    .join(':');
}
