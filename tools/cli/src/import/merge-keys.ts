import { wrongValue, type Entry, type Mapping, type Node, type Problems } from '@sluice/config/kit';

/** YAML 1.1, which envoyproxy/ratelimit reads, has merge keys; YAML 1.2 has none. */
const MERGE = '<<';
const EXAMPLE = 'For example { <<: *usual, requests_per_unit: 5 }.';

/** Returns a mapping with the fields of those that its merge keys name. Its own fields, and those named first, are kept. */
export function merged(mapping: Mapping, problems: Problems): Mapping {
  const all = [...mapping.entries].map(({ key, value }): Entry => ({ key, value: mergedNode(value, problems) }));
  const own = all.filter(({ key }) => !isMerge(key));
  const others = all.filter(({ key }) => isMerge(key)).flatMap(({ value }) => fieldsIn(value, problems));
  const names = new Set(own.map(({ key }) => nameOf(key)));
  const added = others.filter(({ key }) => !names.has(nameOf(key)) && names.add(nameOf(key)));
  return { ...mapping, entries: [...own, ...added] };
}

function mergedNode(node: Node, problems: Problems): Node {
  if (node.kind === 'mapping') return merged(node, problems);
  return node.kind === 'list' ? { ...node, items: [...node.items].map((item) => mergedNode(item, problems)) } : node;
}

function fieldsIn(node: Node, problems: Problems): readonly Entry[] {
  if (node.kind === 'mapping') return [...node.entries];
  const items = node.kind === 'list' ? [...node.items] : [];
  const mappings = items.filter((item) => item.kind === 'mapping');
  if (node.kind === 'list' && mappings.length === items.length) return mappings.flatMap(({ entries }) => [...entries]);
  problems.add(node.at, wrongValue(MERGE, 'a mapping or a list of mappings', node, EXAMPLE));
  return [];
}

function isMerge(key: Node): boolean {
  return nameOf(key) === MERGE;
}

function nameOf(key: Node): string | undefined {
  return key.kind === 'scalar' ? key.text : undefined;
}
