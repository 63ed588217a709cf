// The room tables: the file of tables: its shape, its checks, its schema.
import {
  fieldOf,
  Fields,
  treeOf,
  type Content,
  type Entry,
  type Field,
  type Mapping,
  type Problems,
} from '@sluice/config/kit';
import type { FailurePolicy } from '@sluice/core';
import { envoyTableOf } from './envoy-shape.ts';
import { httpTableOf } from './http-shape.ts';
import { mappingField } from './list-field.ts';
import type { EnvoyTable, HttpTable, OnFailure, Tables } from './table.ts';

const POLICIES: readonly FailurePolicy[] = ['local', 'open', 'closed'];
const REMEDY = 'For example `http: { api: { limits: [{ limit: PerClient, id: address }] } }`.';

/** The fields of the root of a file of tables. */
export const ROOT_FIELDS: Readonly<Record<'http' | 'envoy' | 'onFailure', Field>> = {
  http: mappingField(
    { description: 'Tables for proxies that ask by HTTP, by the name in /check/<name>.' },
    'a mapping of tables by name',
    'http: { api: { … } }',
  ),
  envoy: mappingField(
    { description: 'Tables for Envoy, by domain.' },
    'a mapping of tables by domain',
    'envoy: { ingress: { … } }',
  ),
  onFailure: mappingField(
    { description: 'What some limits do while the store can not answer.' },
    'a mapping of limits to policies',
    'onFailure: { Logins: closed }',
  ),
};

/** The policy of one limit while the store can't answer. */
export const POLICY_FIELD: Field = fieldOf({
  about: 'The policy of one limit.',
  value: { type: 'choice', choices: POLICIES, example: 'closed' },
});

/** Reads a file of tables. The tables may be used only if there are no problems. */
export function readTables(content: Content, problems: Problems): Tables {
  const tree = treeOf(
    content,
    { file: 'The tables file', demand: 'a mapping with http, envoy, or both', remedy: REMEDY },
    problems,
  );
  if (tree === undefined) return { http: new Map(), envoy: new Map(), onFailure: new Map() };
  const fields = new Fields({ where: 'tables', known: Object.keys(ROOT_FIELDS) }, tree, problems);
  const http = namedTables<HttpTable>(fields, 'http', (entry, name) => httpTableOf(entry, name, fields));
  const envoy = namedTables<EnvoyTable>(fields, 'envoy', ({ value }, domain) => envoyTableOf(value, domain, fields));
  if (http.size + envoy.size === 0 && problems.count === 0)
    problems.add(tree.at, `The tables file has no table. ${REMEDY}`);
  return { http, envoy, onFailure: policiesOf(fields) };
}

function namedTables<Table>(
  fields: Fields,
  part: 'http' | 'envoy',
  read: (entry: Entry, name: string) => Table | undefined,
): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>();
  for (const entry of entriesIn(fields, part)) {
    const name = nameOf(entry);
    if (name === '') fields.note(entry.key.at, `The name of a table in \`${part}\` must not be empty.`);
    else if (tables.has(name)) fields.note(entry.key.at, `\`${part}.${name}\` is given twice. Keep one.`);
    else {
      const table = read(entry, name);
      if (table !== undefined) tables.set(name, table);
    }
  }
  return tables;
}

function policiesOf(fields: Fields): ReadonlyMap<string, OnFailure> {
  const policies = new Map<string, OnFailure>();
  for (const entry of entriesIn(fields, 'onFailure')) {
    const name = nameOf(entry);
    const policy = fields.attempt(
      () => POLICY_FIELD.read(`onFailure.${name}`, entry.value, fields) as FailurePolicy,
      entry.value.at,
    );
    if (policy !== undefined) policies.set(name, { policy, at: entry.key.at });
  }
  return policies;
}

function entriesIn(fields: Fields, part: keyof typeof ROOT_FIELDS): readonly Entry[] {
  const mapping = fields.value(part, ROOT_FIELDS[part]) as Mapping | undefined;
  return mapping === undefined ? [] : [...mapping.entries];
}

function nameOf({ key }: Entry): string {
  return key.kind === 'scalar' ? (key.text ?? '') : '';
}
