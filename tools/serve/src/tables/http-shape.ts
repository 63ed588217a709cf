import {
  fieldOf,
  wrongNode,
  wrongValue,
  type Entry,
  type Field,
  type Fields,
  type Mapping,
  type Node,
} from '@sluice/config/kit';
import type { FieldsDialect } from '@sluice/core';
import { RULE_FIELDS, TABLE_FIELDS } from './common-fields.ts';
import { listField, textsField } from './list-field.ts';
import { pathKind } from '../spellings/text-kind.ts';
import { PathPatterns } from './path-patterns.ts';
import { MAX_COST, type HttpId, type HttpRule, type HttpTable } from './table.ts';

/** The name of an HTTP table, which is a part of a path. */
export const TABLE_NAME: RegExp = /^[A-Za-z0-9_.-]{1,64}$/;

const SOURCES = ['address', 'host', 'method', 'path'] as const;
const HEADER_NAME = /^[!#$%&'*+.^_`|~A-Za-z0-9-]{1,100}$/;
const ID_DEMAND = 'address, host, method, path, or { header: name }';

/** The fields of a rule of an HTTP table. */
export const HTTP_RULE_FIELDS: Readonly<
  Record<'limit' | 'shadow' | 'caseInsensitive' | 'id' | 'cost' | 'methods' | 'paths', Field>
> = {
  ...RULE_FIELDS,
  caseInsensitive: TABLE_FIELDS.caseInsensitive,
  id: {
    schema: {
      description:
        'Where the id of the request comes from: the address of its client, a header that the proxy sets, its host, method or path. Left out for a limit with the idFormat everyone.',
      anyOf: [
        { enum: SOURCES },
        {
          type: 'object',
          properties: { header: { type: 'string', pattern: HEADER_NAME.source } },
          required: ['header'],
          additionalProperties: false,
        },
      ],
    },
    read: (option, node) => httpIdOf(option, node),
  },
  cost: fieldOf({
    about: 'How many tokens a request takes. Default: 1.',
    value: { type: 'whole number', min: 1, max: MAX_COST, example: '5', remedy: 'For example cost: 5.' },
  }),
  methods: textsField(
    'The methods that the limit applies to. Default: all.',
    { pattern: '^[A-Z]+$', demand: 'methods in upper case' },
    'methods: [POST, PUT]',
  ),
  paths: textsField(
    'The paths that the limit applies to: /orders exactly, /orders/* with all below. Default: all.',
    { pattern: String.raw`^/[^*?#]*\*?$`, demand: 'paths that begin with /, with at most one * at the end' },
    'paths: [/orders, /orders/*]',
  ),
};

/** The fields of an HTTP table. */
export const HTTP_TABLE_FIELDS: Readonly<
  Record<'fields' | 'shadow' | 'caseInsensitive' | 'accelRedirect' | 'limits', Field>
> = {
  ...TABLE_FIELDS,
  accelRedirect: fieldOf({
    about: 'For nginx: where it serves an allowed request, such as @backend (X-Accel-Redirect).',
    value: {
      type: 'text',
      pattern: '^[@/][!-~]*$',
      demand: 'a named location or a path of nginx',
      example: '"@backend"',
    },
  }),
  limits: listField('The limits that are decided together.', {}, 'limits: [{ limit: PerClient, id: address }]'),
};

/** Reads one HTTP table. */
export function httpTableOf({ key, value }: Entry, name: string, root: Fields): HttpTable | undefined {
  const where = `http.${name}`;
  if (!TABLE_NAME.test(name)) {
    root.note(
      key.at,
      `The name of a table must have 1 to 64 of the characters A-Z a-z 0-9 _ . -, but was '${name}'. It is a part of the path /check/<name>.`,
    );
    return undefined;
  }
  if (value.kind !== 'mapping') {
    root.note(
      value.at,
      wrongValue(where, 'a mapping of fields', value, 'For example { limits: [{ limit: PerClient, id: address }] }.'),
    );
    return undefined;
  }
  const fields = root.within(where, value, Object.keys(HTTP_TABLE_FIELDS));
  const marks = {
    shadow: fields.value('shadow', HTTP_TABLE_FIELDS.shadow) === true,
    caseInsensitive: fields.value('caseInsensitive', HTTP_TABLE_FIELDS.caseInsensitive) === true,
  };
  const items = (fields.needed('limits', HTTP_TABLE_FIELDS.limits) ?? []) as readonly Node[];
  const rules = items.map((item, i) => httpRuleOf(item, `${where}.limits[${i}]`, { fields, ...marks }));
  return {
    name,
    accelRedirect: fields.value('accelRedirect', HTTP_TABLE_FIELDS.accelRedirect) as string | undefined,
    fields: (fields.value('fields', HTTP_TABLE_FIELDS.fields) ?? 'draft-11') as FieldsDialect | false,
    rules: rules.filter((rule) => rule !== undefined),
  };
}

function httpRuleOf(
  item: Node,
  where: string,
  table: { readonly fields: Fields; readonly shadow: boolean; readonly caseInsensitive: boolean },
): HttpRule | undefined {
  if (item.kind !== 'mapping') {
    table.fields.note(
      item.at,
      wrongValue(where, 'a mapping of fields', item, 'For example { limit: PerClient, id: address }.'),
    );
    return undefined;
  }
  const fields = table.fields.within(where, item, Object.keys(HTTP_RULE_FIELDS));
  const limit = fields.needed('limit', HTTP_RULE_FIELDS.limit) as string | undefined;
  const { values } = fields.values(HTTP_RULE_FIELDS);
  if (limit === undefined) return undefined;
  const { methods, paths } = values as { methods?: readonly string[]; paths?: readonly string[] };
  const kind = pathKind((values['caseInsensitive'] as boolean | undefined) ?? table.caseInsensitive);
  return {
    limit,
    limitAt: fields.node('limit')!.at,
    id: (values['id'] as HttpId | undefined) ?? { from: 'everyone' },
    idAt: fields.node('id')?.at ?? fields.at,
    cost: (values['cost'] as number | undefined) ?? 1,
    costAt: fields.node('cost')?.at ?? fields.at,
    methods: methods && new Set(methods),
    paths: paths && new PathPatterns(paths, kind),
    pathKind: kind,
    shadow: table.shadow || values['shadow'] === true,
  };
}

function httpIdOf(option: string, node: Node): HttpId {
  if (node.kind === 'scalar') {
    const from = SOURCES.find((source) => source === node.value);
    if (from !== undefined) return { from };
  }
  const header = node.kind === 'mapping' ? headerIn(node) : undefined;
  if (header !== undefined) return { from: 'header', name: header };
  throw wrongNode(option, ID_DEMAND, node, 'For example id: address, or id: { header: X-Account-Id }.');
}

function headerIn(node: Mapping): string | undefined {
  const entries = [...node.entries];
  const [entry] = entries;
  if (entries.length !== 1 || entry!.key.kind !== 'scalar' || entry!.key.value !== 'header') return undefined;
  const { value } = entry!;
  if (value.kind !== 'scalar' || typeof value.value !== 'string' || !HEADER_NAME.test(value.value)) return undefined;
  return value.value.toLowerCase();
}
