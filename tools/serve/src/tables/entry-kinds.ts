import { wrongNode, type Field } from '@sluice/config/kit';
import { HOST, METHOD, pathKind, TEXT, type TextKind, type TextKindName } from '../spellings/text-kind.ts';
import type { EntryPattern } from './descriptor-tree.ts';

/** The kinds of the values of some keys, as a table says. */
export type ChosenKinds = ReadonlyMap<string, TextKindName>;

const NAMES: readonly TextKindName[] = ['path', 'host', 'method', 'text'];

/** What keys are named in the configurations of Envoy: with the name of the header, or a word for it. */
const USUAL: ChosenKinds = new Map([
  ['path', 'path'],
  [':path', 'path'],
  ['host', 'host'],
  ['authority', 'host'],
  [':authority', 'host'],
  ['method', 'method'],
  [':method', 'method'],
]);

/** The field of a table that says what the values of keys are. */
export function keysField(): Field {
  return {
    schema: {
      description:
        'What the values of some keys are: path, host, method, or text, which has one spelling. Default: path, host and method for keys of these names, with or without a colon, :authority, and path for keys whose rules have a value that begins with /.',
      type: 'object',
      additionalProperties: { enum: NAMES },
    },
    read(option, node) {
      const entries = node.kind === 'mapping' ? [...node.entries] : [];
      const kinds = entries.map(({ key, value }) => {
        const kind = NAMES.find((name) => value.kind === 'scalar' && value.value === name);
        return key.kind === 'scalar' && kind !== undefined ? ([key.text ?? '', kind] as const) : undefined;
      });
      if (node.kind === 'mapping' && !kinds.includes(undefined))
        return new Map(kinds.filter((kind) => kind !== undefined));
      const demand = `a mapping of keys to ${NAMES.join(', ')}`;
      throw wrongNode(option, demand, node, 'For example keys: { uri: path }.');
    },
  };
}

/** Returns the function that says the kind of the values of a key. */
export function kindsOf(
  entries: readonly EntryPattern[],
  { chosen, caseInsensitive }: { readonly chosen: ChosenKinds | undefined; readonly caseInsensitive: boolean },
): (key: string) => TextKind {
  const paths = new Set(entries.filter(({ value }) => value?.startsWith('/')).map(({ key }) => key));
  const kinds = { path: pathKind(caseInsensitive), host: HOST, method: METHOD, text: TEXT };
  return (key) => kinds[chosen?.get(key) ?? USUAL.get(key) ?? (paths.has(key) ? 'path' : 'text')];
}
