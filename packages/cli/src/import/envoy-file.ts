import {
  contentsOf,
  Fields,
  fieldOf,
  problemsError,
  problemsOf,
  Problems,
  sourceOf,
  treeOf,
  wrongValue,
  type Field,
  type Mapping,
  type Node,
  type Position,
} from '@sluice/config/kit';
import type { LimitSource } from '@sluice/config';
import { SluiceError } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';

/** A file of envoyproxy/ratelimit. */
export interface EnvoyFile {
  readonly domain: string;
  readonly descriptors: readonly EnvoyDescriptor[];
}

/** One descriptor of the file, with those below it. */
export interface EnvoyDescriptor {
  readonly key: string;
  /** Undefined for any value. May end in `*`. */
  readonly value: string | undefined;
  readonly at: Position;
  readonly limit: EnvoyLimit | undefined;
  readonly descriptors: readonly EnvoyDescriptor[];
  readonly shadow: boolean;
  /** Whether all values that match share one bucket. */
  readonly shared: boolean;
  /** Fields that have no meaning here, by their names. */
  readonly dropped: readonly string[];
}

/** `rate_limit` of a descriptor. */
export interface EnvoyLimit {
  /** Undefined if unlimited. */
  readonly unit: EnvoyUnit | undefined;
  readonly requestsPerUnit: number;
  readonly unlimited: boolean;
  readonly name: string | undefined;
  readonly replaces: readonly string[];
}

/** The units of the file. */
const ENVOY_UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const;
export type EnvoyUnit = (typeof ENVOY_UNITS)[number];

const MAX_BYTES = 262_144;
const REMEDY = 'It is the configuration of envoyproxy/ratelimit: a domain, and a list of descriptors.';

const text = (about: string): Field => fieldOf({ about, value: { type: 'text', example: 'ingress' } });
const flag = (about: string): Field => fieldOf({ about, value: { type: 'switch' } });
/** Any value, which is looked at elsewhere. */
const node = (description: string): Field => ({ schema: { description }, read: (_, given) => given });

const ROOT: Readonly<Record<string, Field>> = { domain: text('The domain.'), descriptors: node('The descriptors.') };
const DESCRIPTOR: Readonly<Record<string, Field>> = {
  key: text('The key of the entry.'),
  value: node('Its value.'),
  rate_limit: node('The limit.'),
  descriptors: node('The descriptors below.'),
  shadow_mode: flag('Whether it only counts.'),
  share_threshold: flag('Whether all values share one counter.'),
  detailed_metric: flag('For metrics.'),
  value_to_metric: flag('For metrics.'),
  quota_mode: flag('Quota mode.'),
};
const DROPPED = ['detailed_metric', 'value_to_metric', 'quota_mode'];
const LIMIT: Readonly<Record<string, Field>> = {
  unit: text('The unit of time.'),
  requests_per_unit: fieldOf({
    about: 'Requests per unit.',
    value: { type: 'whole number', min: 0, max: 2 ** 32 - 1, example: '10' },
  }),
  unlimited: flag('Whether it lets all pass.'),
  name: text('Its name.'),
  replaces: node('The names of limits that it replaces.'),
};

/**
 * Reads a file of envoyproxy/ratelimit.
 *
 * @throws {SluiceError} `ERR_LIMIT_FILES` with all mistakes, by line and column.
 */
export async function readEnvoyFile(file: LimitSource): Promise<EnvoyFile> {
  const source = sourceOf('file', file);
  const problems = new Problems();
  const [content] = await contentsOf([source], { maxBytes: MAX_BYTES, timeMs: 60_000, time: systemTime });
  const tree = treeOf(content!, { file: 'The file', demand: 'a mapping', remedy: REMEDY }, problems);
  const read = tree === undefined ? undefined : fileOf(tree, problems);
  if (problems.count > 0) throw problemsError(problemsOf(source.label, problems), problems.count);
  return read!;
}

function fileOf(tree: Mapping, problems: Problems): EnvoyFile {
  const fields = new Fields({ where: 'file', known: Object.keys(ROOT) }, tree, problems);
  const domain = fields.needed('domain', textField(ROOT['domain']!)) as string | undefined;
  return { domain: domain ?? '', descriptors: descriptorsOf(fields, 'descriptors') };
}

function descriptorsOf(parent: Fields, where: string): readonly EnvoyDescriptor[] {
  const list = parent.node('descriptors');
  if (list === undefined || (list.kind === 'scalar' && list.value === null)) return [];
  if (list.kind !== 'list') {
    parent.note(
      list.at,
      wrongValue(where, 'a list of descriptors', list, 'For example descriptors: [{ key: remote_address }].'),
    );
    return [];
  }
  const read: EnvoyDescriptor[] = [];
  const seen = new Set<string>();
  for (const item of list.items) {
    const descriptor = descriptorOf(item, `${where}[${read.length}]`, parent);
    if (descriptor === undefined) continue;
    const name = JSON.stringify([descriptor.key, descriptor.value]);
    if (seen.has(name))
      parent.note(descriptor.at, `The key ${descriptor.key} is given twice with the same value. Keep one.`);
    seen.add(name);
    read.push(descriptor);
  }
  return read;
}

function descriptorOf(item: Node, where: string, parent: Fields): EnvoyDescriptor | undefined {
  if (item.kind !== 'mapping') {
    parent.note(item.at, wrongValue(where, 'a mapping of fields', item, 'For example { key: remote_address }.'));
    return undefined;
  }
  const fields = parent.within(where, item, Object.keys(DESCRIPTOR));
  const key = fields.needed('key', textField(DESCRIPTOR['key']!)) as string | undefined;
  const value = fields.node('value');
  const written = value?.kind === 'scalar' ? (value.text ?? '') : undefined;
  if (value !== undefined && written === undefined)
    fields.note(value.at, wrongValue(`${where}.value`, 'text', value, 'For example value: /login.'));
  if (key === undefined) return undefined;
  const isOn = (name: string): boolean => fields.value(name, DESCRIPTOR[name]!) === true;
  return {
    key,
    value: written === '' ? undefined : written,
    at: item.at,
    limit: limitOf(fields, where),
    descriptors: descriptorsOf(fields, `${where}.descriptors`),
    shadow: isOn('shadow_mode'),
    shared: isOn('share_threshold'),
    dropped: DROPPED.filter(isOn),
  };
}

function limitOf(parent: Fields, where: string): EnvoyLimit | undefined {
  const given = parent.node('rate_limit');
  if (given === undefined || (given.kind === 'scalar' && given.value === null)) return undefined;
  const path = `${where}.rate_limit`;
  if (given.kind !== 'mapping') {
    parent.note(given.at, wrongValue(path, 'a mapping', given, 'For example { unit: minute, requests_per_unit: 10 }.'));
    return undefined;
  }
  const fields = parent.within(path, given, Object.keys(LIMIT));
  const { values } = fields.values({ unlimited: LIMIT['unlimited']!, requests_per_unit: LIMIT['requests_per_unit']! });
  const unlimited = values['unlimited'] === true;
  const unit = unlimited ? undefined : (fields.needed('unit', UNIT) as EnvoyUnit | undefined);
  if (unlimited && fields.has('unit'))
    fields.note(fields.positionOf('unit'), `\`${path}.unit\` must be left out beside unlimited.`);
  return {
    unit,
    requestsPerUnit: (values['requests_per_unit'] as number | undefined) ?? 0,
    unlimited,
    name: fields.has('name') ? (fields.value('name', textField(LIMIT['name']!)) as string | undefined) : undefined,
    replaces: replacesOf(fields, path),
  };
}

const UNIT: Field = {
  schema: {},
  read(option, given) {
    const unit = given.kind === 'scalar' ? String(given.value).toLowerCase() : '';
    const found = ENVOY_UNITS.find((each) => each === unit);
    if (found !== undefined) return found;
    throw new SluiceError(
      'ERR_OPTION',
      wrongValue(option, `one of ${ENVOY_UNITS.join(', ')}`, given, 'For example unit: minute.'),
    );
  },
};

function replacesOf(fields: Fields, path: string): readonly string[] {
  const list = fields.node('replaces');
  if (list === undefined) return [];
  const example = 'For example replaces: [{ name: PerClient }].';
  if (list.kind !== 'list') {
    fields.note(list.at, wrongValue(`${path}.replaces`, 'a list of names', list, example));
    return [];
  }
  return [...list.items].flatMap((item) => {
    const [entry] = item.kind === 'mapping' ? [...item.entries] : [];
    if (entry?.key.kind === 'scalar' && entry.key.value === 'name' && entry.value.kind === 'scalar')
      return [String(entry.value.value)];
    fields.note(item.at, wrongValue(`${path}.replaces[]`, 'a mapping with a name', item, example));
    return [];
  });
}

/** A field whose text must not be empty. */
function textField(field: Field): Field {
  return {
    schema: field.schema,
    read(option, given) {
      const value = given.kind === 'scalar' && given.value !== null ? given.text : undefined;
      if (value !== undefined && value !== '') return value;
      throw new SluiceError('ERR_OPTION', wrongValue(option, 'text that is not empty', given, 'For example ingress.'));
    },
  };
}
