import type { IdFormat } from '@sluice/core';
import { bytesOf } from '../spellings/bytes.ts';
import { fits, hasWildcard, patternForms } from '../spellings/text-pattern.ts';
import { patternText } from '../tables/envoy-shape.ts';
import type { DescriptorEntry, EntryPattern } from '../tables/descriptor-tree.ts';
import type { EnvoyRule } from '../tables/table.ts';
import { idText } from './id-text.ts';

/** The only id of the format `everyone`. */
const EVERYONE = 'everyone';

/**
 * Returns the text of the id of a descriptor: the value of its only key, the parts of a compound format, or else all keys
 * with their values, as in `path=%2Flogin&remote_address=203.0.113.7`. Each value is in its one spelling.
 *
 * @param entries - The entries of a descriptor that matches the rule.
 */
export function descriptorId(rule: EnvoyRule, entries: readonly DescriptorEntry[], format: IdFormat): string {
  if (format.name === EVERYONE) return EVERYONE;
  const { id } = rule;
  if (id === 'rule') return patternText(rule.descriptor);
  const chosen = entries.flatMap((entry, i) => {
    const pattern = rule.descriptor[i]!;
    return isChosen(id, pattern) ? [{ key: entry.key, value: valueOf(entry, pattern) }] : [];
  });
  if (chosen.length === 0) return patternText(rule.descriptor);
  if (id !== 'descriptor' && chosen.length === 1) return chosen[0]!.value;
  const parts = format.name.includes('|') ? 1 : format.name.split(':').length;
  if (id !== 'descriptor' && parts === chosen.length) return compoundText(chosen);
  return chosen.map(({ key, value }) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&');
}

function isChosen(id: EnvoyRule['id'], { key, value }: EntryPattern): boolean {
  if (id === 'descriptor') return true;
  return id === undefined ? value === undefined || hasWildcard(value) : id.includes(key);
}

/** All spellings of a fixed value have the bucket of that value. */
function valueOf({ value }: DescriptorEntry, { kind, value: pattern }: EntryPattern): string {
  if (pattern === undefined) return kind.canonical(bytesOf(value));
  if (!hasWildcard(pattern)) return pattern;
  const forms = patternForms(kind, pattern);
  const isMatch = (spelling: string): boolean => forms.some((form) => fits(spelling, form));
  return idText(kind, bytesOf(value), { isMatch, pattern });
}

/** As the ids of `compound` keys: a `:` in any part but the last is written %3A. */
function compoundText(entries: readonly DescriptorEntry[]): string {
  const last = entries.length - 1;
  return entries
    .map(({ value }, i) => (i === last ? value : value.replaceAll('%', '%25').replaceAll(':', '%3A')))
    .join(':');
}
