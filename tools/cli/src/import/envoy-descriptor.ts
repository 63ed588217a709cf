import { wrongValue, type Field, type Fields, type Mapping, type Node } from '@sluice/config/kit';
import { limitOf, type EnvoyLimit } from './envoy-limit.ts';
import { isNull, neededText, optionalText, SWITCH } from './yaml-values.ts';

/** One descriptor of a file, with those below it. */
export interface EnvoyDescriptor {
  readonly key: string;
  /** Undefined for any value. Each `*` in it stands for any text. */
  readonly value: string | undefined;
  readonly limit: EnvoyLimit | undefined;
  readonly descriptors: readonly EnvoyDescriptor[];
  readonly shadow: boolean;
  /** Whether all values that match share one bucket. */
  readonly shared: boolean;
  /** Fields that have no meaning here, by their names. */
  readonly dropped: readonly string[];
}

/** The names of the descriptors of one list, as the other service has them, and where each was given. */
export type GivenNames = Map<string, string>;

const SWITCHES = ['shadow_mode', 'share_threshold', 'detailed_metric', 'value_to_metric', 'quota_mode'] as const;
const DROPPED = ['detailed_metric', 'value_to_metric', 'quota_mode'] as const;
const FIELDS = ['key', 'value', 'rate_limit', 'descriptors', 'metadata', ...SWITCHES];
const KEY: Field = neededText('remote_address');
const VALUE: Field = optionalText('/login');
/** What any value of a list of descriptors is, at the place in this file. */
const HERE = 'above';

/**
 * Reads the descriptors of a file, or those below one.
 *
 * @param given - What other files of the domain have given.
 * @param file - The name of the file, for the messages of others.
 */
export function descriptorsOf(
  parent: Fields,
  where: string,
  { given = new Map(), file = HERE }: { readonly given?: GivenNames; readonly file?: string } = {},
): readonly EnvoyDescriptor[] {
  const list = parent.node('descriptors');
  if (list === undefined || isNull(list)) return [];
  if (list.kind !== 'list') {
    const example = 'For example descriptors: [{ key: remote_address }].';
    parent.note(list.at, wrongValue(where, 'a list of descriptors', list, example));
    return [];
  }
  return [...list.items].flatMap((item, i) => {
    const descriptor = descriptorOf(item, `${where}[${i}]`, parent);
    if (descriptor === undefined) return [];
    const name = givenName(descriptor);
    const first = given.get(name);
    if (first !== undefined) {
      const place = first === file ? '' : `, first in ${first}`;
      parent.note(item.at, `The key ${descriptor.key} is given twice with the same value${place}. Keep one.`);
    }
    given.set(name, file);
    return [descriptor];
  });
}

/** The other service joins key and value, so that `a_b` and `a` with the value `b` are the same. */
function givenName({ key, value }: EnvoyDescriptor): string {
  return value === undefined ? key : `${key}_${value}`;
}

function descriptorOf(item: Node, where: string, parent: Fields): EnvoyDescriptor | undefined {
  if (item.kind !== 'mapping') {
    parent.note(item.at, wrongValue(where, 'a mapping of fields', item, 'For example { key: remote_address }.'));
    return undefined;
  }
  const fields = parent.within(where, item, FIELDS);
  const key = fields.needed('key', KEY) as string | undefined;
  const value = fields.value('value', VALUE) as string | undefined;
  const isOn = (name: (typeof SWITCHES)[number]): boolean => fields.value(name, SWITCH) === true;
  const descriptor = {
    limit: limitOf(fields, where),
    descriptors: descriptorsOf(fields, `${where}.descriptors`),
    shadow: isOn('shadow_mode'),
    shared: isOn('share_threshold'),
    dropped: [...DROPPED.filter(isOn), ...(hasMetadata(fields) ? ['metadata'] : [])],
  };
  if (key === undefined) return undefined;
  checkWildcards(fields, { key, value, shared: descriptor.shared });
  return { key, value, ...descriptor };
}

function hasMetadata(fields: Fields): boolean {
  const node = fields.node('metadata');
  if (node === undefined || isNull(node)) return false;
  if (node.kind !== 'mapping') {
    const remedy = 'For example metadata: { name: service_1 }.';
    fields.note(node.at, wrongValue(`${fields.where}.metadata`, 'a mapping', node, remedy));
  }
  return node.kind === 'mapping' && !isEmpty(node);
}

function isEmpty({ entries }: Mapping): boolean {
  return [...entries].length === 0;
}

function checkWildcards(
  fields: Fields,
  { key, value = '', shared }: { readonly key: string; readonly value: string | undefined; readonly shared: boolean },
): void {
  if (key.includes('*')) {
    const why = 'the other service compares it, as a pattern, with the key and the value together, and tables do not';
    fields.note(fields.positionOf('key'), `\`${fields.where}.key\` must have no *, but was '${key}': ${why}.`);
  } else if (shared && !value.includes('*')) {
    const why = 'only values that match a pattern can share a counter';
    fields.note(
      fields.positionOf('share_threshold'),
      `\`${fields.where}.share_threshold\` must be beside a value with a *: ${why}.`,
    );
  }
}
