import type { LoadedLimits } from '@sluice/config';
import { clientNetwork, everyone, ipAddress, type IdFormat, type Key } from '@sluice/core';
import { listed } from '@sluice/core/kit';
import { UsageError } from '../../console/failure.ts';
import type { FieldName } from '../formats/line-parser.ts';

/** Where the id of a limit comes from. */
export type IdRule = IdSource & {
  /** As in `--key`, or the format of the ids of a limit without one. */
  readonly text: string;
};

/** A field of the line, or a key that gets a request. */
type IdSource =
  | { readonly from: 'field'; readonly field: FieldName; readonly format: IdFormat }
  | { readonly from: 'key'; readonly key: Key; readonly needs: 'address' | 'nothing' | 'request' };

/** The format of the ids of a limit without an `idFormat`. */
const TEXT: IdFormat = { name: 'text', canonical: (text) => text };

const SOURCES = 'ip, network, everyone, header:x-api-key or json:user.id';
const EXAMPLES = `${SOURCES}, for example --key 'Orders=json:user.id'`;

/**
 * Returns the rule of each limit that has one, from words such as `Orders=json:user.id`, otherwise from its `idFormat`.
 *
 * @param names - The limits that are replayed. Words may name others of the file.
 */
export function keyRules(
  words: readonly string[],
  limits: LoadedLimits['limits'],
  names: readonly string[],
): Map<string, IdRule> {
  const given = sourcesOf(words, Object.keys(limits));
  const rules = new Map<string, IdRule>();
  for (const name of names) {
    const { key } = limits[name]!;
    // A load limit has no ids.
    if (key === undefined) continue;
    const source = given.get(name);
    const rule = source === undefined ? ruleOfKey(key) : ruleOfSource(source, key.format);
    if (rule !== undefined) rules.set(name, { ...rule, text: source ?? key.format.name });
  }
  return rules;
}

/** Returns why a limit without a rule is left out. */
export function noRule(name: string): string {
  const example = EXAMPLES.replace('Orders', name);
  return `it is not known where its ids come from. Give it a --key with ${example}, or all limits with --keys ./keys.mjs`;
}

/** Returns the source of each limit that is named. */
function sourcesOf(words: readonly string[], names: readonly string[]): Map<string, string> {
  const sources = new Map<string, string>();
  for (const [name, source] of words.map((word) => pairOf(word, names))) {
    const first = sources.get(name);
    if (first !== undefined)
      throw new UsageError(`\`--key\` names ${name} twice, as '${first}' and as '${source}'. Give each limit one.`);
    sources.set(name, source);
  }
  return sources;
}

function pairOf(word: string, names: readonly string[]): [string, string] {
  const at = word.indexOf('=');
  const [name, source] = [word.slice(0, Math.max(at, 0)), word.slice(at + 1)];
  if (names.includes(name) && source !== '') return [name, source];
  if (at === -1 && names.length === 1) return [names[0]!, word];
  throw new UsageError(
    `\`--key\` must be the name of a limit and the source of its ids, but was '${word}'. Sources: ${EXAMPLES}. Limits: ${listed(names)}.`,
  );
}

/** Returns the rule of the word after `--key`. */
function ruleOfSource(source: string, declared: IdFormat | undefined): IdSource {
  const format = declared === undefined || declared.name === 'missing' ? undefined : declared;
  if (source === 'ip') return ofKey(ipAddress(), format, 'address');
  if (source === 'network') return ofKey(clientNetwork(), format, 'address');
  if (source === 'everyone') return ofKey(everyone(), format, 'nothing');
  const field = source.replace(/^header:(.*)$/i, (_, name: string) => `header:${name.toLowerCase()}`);
  if (/^(?:header:[\w-]+|json:.+)$/.test(field)) return { from: 'field', field, format: format ?? TEXT };
  throw new UsageError(`The source of ids must be ${SOURCES}, but was '${source}'.`);
}

function ofKey(key: Key, format: IdFormat | undefined, needs: 'address' | 'nothing'): IdSource {
  if (format === undefined || format.name === key.format.name) return { from: 'key', key, needs };
  // The id of an address in another format, such as a range of IPv6.
  const idOf: Key['idOf'] = (source) => format.canonical(source.clientAddress.text);
  return { from: 'key', key: { ...key, format, idOf }, needs };
}

/** A limit of a file without code has a format only. Its name is enough for ids of addresses. */
function ruleOfKey(key: Key): IdSource | undefined {
  if (key.idOf !== undefined) return { from: 'key', key, needs: 'request' };
  const known = [ipAddress(), clientNetwork()].find(({ format }) => format.name === key.format.name);
  if (known !== undefined) return { from: 'key', key: known, needs: 'address' };
  return key.format.name === everyone().format.name ? { from: 'key', key: everyone(), needs: 'nothing' } : undefined;
}
