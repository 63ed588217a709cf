import { fieldOf, wrongNode, wrongValue, type Field, type Fields, type Node } from '@sluice/config/kit';
import { wholeNumber } from '@sluice/core/kit';
import { isNull, neededText, optionalText, SWITCH } from './yaml-values.ts';

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

const REPLACED: Field = neededText('PerClient');
const MOST_REQUESTS = 2 ** 32 - 1;

const LIMIT: Readonly<Record<'unit' | 'requests_per_unit' | 'unlimited' | 'name' | 'replaces', Field>> = {
  unit: {
    schema: {},
    read(option, given) {
      const unit = unitOf(given);
      if (unit !== undefined) return unit;
      throw wrongNode(option, `one of ${ENVOY_UNITS.join(', ')}`, given, 'For example unit: minute.');
    },
  },
  requests_per_unit: fieldOf({
    about: 'Requests per unit.',
    value: { type: 'whole number', min: 0, max: MOST_REQUESTS, example: '10' },
    check: (option, value) =>
      wholeNumber(option, value, { min: 0, max: MOST_REQUESTS, remedy: 'For example requests_per_unit: 10.' }),
  }),
  unlimited: SWITCH,
  name: optionalText('PerClient'),
  replaces: { schema: {}, read: (_, given) => given },
};

/** Reads `rate_limit` of a descriptor; undefined if it has none. */
export function limitOf(parent: Fields, where: string): EnvoyLimit | undefined {
  const given = parent.node('rate_limit');
  if (given === undefined || isNull(given)) return undefined;
  const path = `${where}.rate_limit`;
  if (given.kind !== 'mapping') {
    parent.note(given.at, wrongValue(path, 'a mapping', given, 'For example { unit: minute, requests_per_unit: 10 }.'));
    return undefined;
  }
  const fields = parent.within(path, given, Object.keys(LIMIT));
  const unlimited = fields.value('unlimited', LIMIT.unlimited) === true;
  const name = fields.value('name', LIMIT.name) as string | undefined;
  return {
    unit: unlimited ? noUnit(fields) : (fields.needed('unit', LIMIT.unit) as EnvoyUnit | undefined),
    requestsPerUnit: (fields.value('requests_per_unit', LIMIT.requests_per_unit) as number | undefined) ?? 0,
    unlimited,
    name,
    replaces: replacesOf(fields, name),
  };
}

/** Beside `unlimited` the other service takes a unit that is none, such as UNKNOWN. */
function noUnit(fields: Fields): undefined {
  const unit = fields.node('unit');
  if (unit !== undefined && unitOf(unit) !== undefined)
    fields.note(fields.positionOf('unit'), `\`${fields.where}.unit\` must be left out beside unlimited.`);
}

function unitOf(node: Node): EnvoyUnit | undefined {
  const unit = node.kind === 'scalar' ? String(node.value).toLowerCase() : '';
  return ENVOY_UNITS.find((each) => each === unit);
}

function replacesOf(fields: Fields, own: string | undefined): readonly string[] {
  const list = fields.node('replaces');
  if (list === undefined || isNull(list)) return [];
  const option = `${fields.where}.replaces`;
  const example = 'For example replaces: [{ name: PerClient }].';
  if (list.kind !== 'list') {
    fields.note(list.at, wrongValue(option, 'a list of names', list, example));
    return [];
  }
  return [...list.items].flatMap((item) => {
    if (item.kind !== 'mapping') {
      fields.note(item.at, wrongValue(`${option}[]`, 'a mapping with a name', item, example));
      return [];
    }
    const name = fields.within(`${option}[]`, item, ['name']).needed('name', REPLACED) as string | undefined;
    if (name !== undefined && name === own)
      fields.note(item.at, `\`${option}[].name\` must not be that of the same limit, ${own}. Remove it.`);
    return name ?? [];
  });
}
