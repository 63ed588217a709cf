import { wrongNode, type Field, type JsonSchema, type Node } from '@sluice/config/kit';

/** Returns a field for a list that must not be empty. Its value is the nodes of its items. */
export function listField(description: string, items: JsonSchema, example: string): Field {
  const demand = 'a list that is not empty';
  return {
    schema: { description, type: 'array', minItems: 1, items },
    read(option, node) {
      const nodes = node.kind === 'list' ? [...node.items] : [];
      if (nodes.length > 0) return nodes;
      const was: Node = node.kind === 'list' ? { kind: 'scalar', value: null, text: '[]', at: node.at } : node;
      throw wrongNode(option, demand, was, `For example ${example}.`);
    },
  };
}

/** Returns a field for a list of texts. Its value is the texts. */
export function textsField(
  description: string,
  item: { readonly pattern: string; readonly demand: string },
  example: string,
): Field {
  const list = listField(description, { type: 'string', pattern: item.pattern }, example);
  const pattern = new RegExp(item.pattern);
  return {
    schema: list.schema,
    read(option, node, fields) {
      return (list.read(option, node, fields) as readonly Node[]).map((entry) => {
        if (entry.kind === 'scalar' && typeof entry.value === 'string' && pattern.test(entry.value)) return entry.value;
        throw wrongNode(option, `a list of ${item.demand}`, entry, `For example ${example}.`);
      });
    },
  };
}

/** Returns a field for a mapping, whose value is its node. */
export function mappingField(schema: JsonSchema, demand: string, example: string): Field {
  return {
    schema,
    read(option, node) {
      if (node.kind === 'mapping') return node;
      throw wrongNode(option, demand, node, `For example ${example}.`);
    },
  };
}
