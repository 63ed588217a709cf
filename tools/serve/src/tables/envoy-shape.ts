import { fieldOf, shownNode, wrongNode, wrongValue, type Field, type Fields, type Node } from '@sluice/config/kit';
import type { FieldsDialect } from '@sluice/core';
import { checkLimitName, shownName } from '@sluice/core/kit';
import { TEXT } from '../spellings/text-kind.ts';
import { WILDCARD } from '../spellings/text-pattern.ts';
import { RULE_FIELDS, TABLE_FIELDS } from './common-fields.ts';
import { DescriptorTree, type EntryPattern } from './descriptor-tree.ts';
import { keysField, kindsOf, type ChosenKinds } from './entry-kinds.ts';
import { listField, textsField } from './list-field.ts';
import type { EnvoyId, EnvoyRule, EnvoyTable } from './table.ts';

/** At most so many entries make a pattern: real descriptors have one to five. */
const MAX_ENTRIES = 16;

const ENTRY_DEMAND = 'the key of an entry, or a key with its value';
const ENTRY_EXAMPLE = 'descriptor: [remote_address, { path: /login }]';

type Fielded<Name extends string> = Readonly<Record<Name, Field>>;

/** The fields of a rule for descriptors. */
export const ENVOY_RULE_FIELDS: Fielded<
  'limit' | 'shadow' | 'descriptor' | 'id' | 'report' | 'replaces' | 'unlimited' | 'blocked' | 'name'
> = {
  ...RULE_FIELDS,
  descriptor: listField(
    'The entries of the descriptor, in their order: a key for any value, or a key with its value, in which each * stands for any text.',
    {
      anyOf: [
        { type: 'string', minLength: 1 },
        {
          type: 'object',
          minProperties: 1,
          maxProperties: 1,
          additionalProperties: { type: ['string', 'number', 'boolean'], minLength: 1 },
        },
      ],
    },
    ENTRY_EXAMPLE,
  ),
  id: {
    schema: {
      description:
        'Which values make the id: a list of keys; rule for one bucket for all that match; descriptor for all keys with their values. Default: the values that are not fixed.',
      anyOf: [
        { enum: ['rule', 'descriptor'] },
        { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
      ],
    },
    read: (option, node) => envoyIdOf(option, node),
  },
  report: fieldOf({
    about:
      'What an addend above 0 does: spend takes it only if it fits. charge takes it whether it fits or not, for usage that is reported when a stream is done.',
    value: { type: 'choice', choices: ['spend', 'charge'], example: 'charge' },
  }),
  replaces: textsField(
    'The limits that do not apply to a request to which this rule applies, and the names of blocked rules.',
    { pattern: '.', demand: 'names of limits' },
    'replaces: [PerClient]',
  ),
  unlimited: fieldOf({ about: 'Lets the descriptors pass. Replaces the limit.', value: { type: 'mark' } }),
  blocked: fieldOf({ about: 'Denies the descriptors. Replaces the limit.', value: { type: 'mark' } }),
  name: fieldOf({
    about: 'The name of a blocked rule, by which other rules replace it.',
    value: { type: 'name of a limit' },
    check: (option, value) => checkLimitName(option, value),
  }),
};

// The items of a list of data can be read only once.
const { descriptor: DESCRIPTOR_FIELD, ...OTHER_FIELDS } = ENVOY_RULE_FIELDS;

/** The fields of a domain. */
export const ENVOY_TABLE_FIELDS: Fielded<'fields' | 'shadow' | 'caseInsensitive' | 'keys' | 'rules'> = {
  ...TABLE_FIELDS,
  keys: keysField(),
  rules: listField(
    'What applies to the descriptors of the domain.',
    {},
    'rules: [{ descriptor: [remote_address], limit: PerClient }]',
  ),
};

/** Reads the table of one domain. */
export function envoyTableOf(value: Node, domain: string, root: Fields): EnvoyTable | undefined {
  const where = `envoy.${shownName(domain)}`;
  if (value.kind !== 'mapping') {
    const example = 'For example { rules: [{ descriptor: [remote_address], limit: PerClient }] }.';
    root.note(value.at, wrongValue(where, 'a mapping of fields', value, example));
    return undefined;
  }
  const fields = root.within(where, value, Object.keys(ENVOY_TABLE_FIELDS));
  const shadow = fields.value('shadow', ENVOY_TABLE_FIELDS.shadow) === true;
  const items = (fields.needed('rules', ENVOY_TABLE_FIELDS.rules) ?? []) as readonly Node[];
  const written = items.map((item, i) => envoyRuleOf(item, `${where}.rules[${i}]`, { fields, shadow }));
  const kindOf = kindsOf(
    written.flatMap((rule) => rule?.descriptor ?? []),
    {
      chosen: fields.value('keys', ENVOY_TABLE_FIELDS.keys) as ChosenKinds | undefined,
      caseInsensitive: fields.value('caseInsensitive', ENVOY_TABLE_FIELDS.caseInsensitive) === true,
    },
  );
  const tree = new DescriptorTree<EnvoyRule>();
  const rules: EnvoyRule[] = [];
  for (const [i, each] of written.entries()) {
    if (each === undefined) continue;
    const rule = { ...each, descriptor: each.descriptor.map((entry) => ({ ...entry, kind: kindOf(entry.key) })) };
    rules.push(rule);
    if (tree.add(rule.descriptor, rule) !== undefined) {
      fields.note(
        rule.at,
        `\`${where}.rules[${i}]\` has the descriptor of an earlier rule: ${patternText(rule.descriptor)}. Keep one of the two.`,
      );
    }
  }
  return {
    domain,
    countedAs: `envoy:${domain}`,
    fields: (fields.value('fields', ENVOY_TABLE_FIELDS.fields) ?? 'draft-11') as FieldsDialect | false,
    tree,
    rules,
  };
}

/** Formats a pattern, for messages and for ids: `path=/login&remote_address=*`. */
export function patternText(pattern: readonly EntryPattern[]): string {
  return pattern.map(({ key, value = WILDCARD }) => `${key}=${value}`).join('&');
}

function envoyRuleOf(
  item: Node,
  where: string,
  table: { readonly fields: Fields; readonly shadow: boolean },
): EnvoyRule | undefined {
  if (item.kind !== 'mapping') {
    const example = 'For example { descriptor: [remote_address], limit: PerClient }.';
    table.fields.note(item.at, wrongValue(where, 'a mapping of fields', item, example));
    return undefined;
  }
  const fields = table.fields.within(where, item, Object.keys(ENVOY_RULE_FIELDS));
  const nodes = fields.needed('descriptor', DESCRIPTOR_FIELD) as readonly Node[] | undefined;
  const descriptor = nodes && patternOf(nodes, `${where}.descriptor`, fields);
  const effect = effectOf(fields, where);
  const { values } = fields.values(OTHER_FIELDS);
  if (effect === undefined || descriptor === undefined) return undefined;
  const id = values['id'] as EnvoyId;
  if (fields.has('name') && effect !== 'blocked') {
    fields.note(
      fields.positionOf('name'),
      `\`${where}.name\` must be left out without blocked: a rule with a limit is replaced by the name of the limit.`,
    );
  }
  if (Array.isArray(id)) checkKeys(id as readonly string[], descriptor, { fields, where });
  return {
    descriptor,
    at: fields.at,
    effect,
    limit: values['limit'] as string | undefined,
    limitAt: fields.node('limit')?.at ?? fields.at,
    id,
    idAt: fields.node('id')?.at ?? fields.at,
    name: values['name'] as string | undefined,
    nameAt: fields.node('name')?.at ?? fields.at,
    report: values['report'] as EnvoyRule['report'],
    replaces: new Set(values['replaces'] as readonly string[] | undefined),
    replacesAt: fields.node('replaces')?.at ?? fields.at,
    shadow: table.shadow || values['shadow'] === true,
  };
}

/** A rule has a limit, or one of two marks. */
function effectOf(fields: Fields, where: string): EnvoyRule['effect'] | undefined {
  const given = (['limit', 'unlimited', 'blocked'] as const).filter((name) => fields.has(name));
  if (given.length === 1) return given[0];
  const was = given.length === 0 ? 'none of them' : given.join(' and ');
  fields.note(
    fields.at,
    `\`${where}\` must have one of limit, unlimited and blocked, but has ${was}. For example limit: PerClient.`,
  );
  return undefined;
}

function patternOf(nodes: readonly Node[], option: string, fields: Fields): readonly EntryPattern[] | undefined {
  const entries = nodes.map((node) => entryOf(node));
  for (const [i, entry] of entries.entries()) {
    if (entry === undefined)
      fields.note(
        nodes[i]!.at,
        wrongValue(`${option}[${i}]`, ENTRY_DEMAND, nodes[i]!, `For example ${ENTRY_EXAMPLE}.`),
      );
  }
  if (nodes.length > MAX_ENTRIES) {
    fields.note(nodes[0]!.at, `\`${option}\` must have at most ${MAX_ENTRIES} entries, but has ${nodes.length}.`);
    return undefined;
  }
  return entries.includes(undefined) ? undefined : (entries as readonly EntryPattern[]);
}

/** What kind of text an entry has depends on the whole table. */
function entryOf(node: Node): EntryPattern | undefined {
  if (node.kind === 'scalar') {
    return typeof node.value === 'string' && node.value !== ''
      ? { key: node.value, value: undefined, kind: TEXT }
      : undefined;
  }
  if (node.kind !== 'mapping') return undefined;
  const [first, second] = [...node.entries];
  if (first === undefined || second !== undefined || first.key.kind !== 'scalar' || first.value.kind !== 'scalar')
    return undefined;
  const { key, value } = { key: shownKey(first.key), value: first.value.text };
  if (key === '' || value === undefined || value === '' || first.value.value === null) return undefined;
  return { key, value, kind: TEXT };
}

function shownKey(key: Node): string {
  return key.kind === 'scalar' ? (key.text ?? '') : shownNode(key);
}

function envoyIdOf(option: string, node: Node): EnvoyId {
  if (node.kind === 'scalar' && (node.value === 'rule' || node.value === 'descriptor')) return node.value;
  const items = node.kind === 'list' ? [...node.items] : [];
  const keys = items.map((item) => (item.kind === 'scalar' && typeof item.value === 'string' ? item.value : ''));
  if (keys.length > 0 && !keys.includes('')) return keys;
  throw wrongNode(option, 'a list of keys, rule or descriptor', node, 'For example id: [remote_address].');
}

function checkKeys(
  keys: readonly string[],
  descriptor: readonly EntryPattern[],
  { fields, where }: { readonly fields: Fields; readonly where: string },
): void {
  const known = descriptor.map(({ key }) => key);
  const unknown = keys.find((key) => !known.includes(key));
  if (unknown === undefined) return;
  fields.note(
    fields.node('id')!.at,
    `\`${where}.id\` must name keys of its descriptor (${known.join(', ')}), but names '${shownName(unknown)}'.`,
  );
}
