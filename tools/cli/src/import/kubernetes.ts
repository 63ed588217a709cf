import { Buffer } from 'node:buffer';
import { shownText } from '@sluice/core/kit';
import type { Content, Mapping, Node } from '@sluice/config/kit';

/** A file inside an object of Kubernetes. */
interface InnerFile {
  /** `ratelimit.yaml of the ConfigMap ratelimit-config`. */
  readonly name: string;
  readonly content: Content;
}

/** What an object of Kubernetes has. */
export interface KubernetesObject {
  readonly files: readonly InnerFile[];
  /** What is left out, for notes. */
  readonly leftOut: readonly string[];
}

/** Files of other kinds, such as the mapping of statsd, are mounted beside those of the service. */
const CONFIGURATION = /\.(?:ya?ml|json)$|^[^.]+$/;

/** Whether a document is an object of Kubernetes: no file of envoyproxy/ratelimit has a kind. */
export function isKubernetes(root: Mapping): boolean {
  return fieldOf(root, 'kind') !== undefined && fieldOf(root, 'domain') === undefined;
}

/** Returns the files of ConfigMaps, alone or in a list, and which objects have none. */
export function kubernetesObject(root: Mapping): KubernetesObject {
  const kind = textOf(fieldOf(root, 'kind'));
  if (kind === 'List' || kind === 'ConfigMapList') {
    const items = fieldOf(root, 'items');
    const objects = items?.kind === 'list' ? [...items.items].map(objectIn) : [];
    return {
      files: objects.flatMap(({ files }) => files),
      leftOut: objects.flatMap(({ leftOut }) => leftOut),
    };
  }
  const name = nameOf(root, kind);
  return kind === 'ConfigMap' ? configMap(root, name) : { files: [], leftOut: [`${name} is left out`] };
}

function objectIn(item: Node): KubernetesObject {
  return item.kind === 'mapping' ? kubernetesObject(item) : { files: [], leftOut: [] };
}

function configMap(root: Mapping, name: string): KubernetesObject {
  const data = fieldOf(root, 'data');
  const files = data?.kind === 'mapping' ? [...data.entries].map(({ key, value }) => fileOf(key, value, name)) : [];
  const isBinary = fieldOf(root, 'binaryData') !== undefined;
  return {
    files: files.filter((file) => typeof file !== 'string'),
    leftOut: [
      ...files.filter((file) => typeof file === 'string'),
      ...(isBinary ? [`binaryData of ${name} is left out`] : []),
    ],
  };
}

function fileOf(key: Node, value: Node, object: string): InnerFile | string {
  const file = shownText(textOf(key), 100);
  const name = `${file} of ${object}`;
  if (value.kind !== 'scalar' || typeof value.value !== 'string' || !CONFIGURATION.test(file))
    return `${name} is left out: it is not YAML`;
  return { name, content: { bytes: Buffer.from(value.value) } };
}

function nameOf(root: Mapping, kind: string): string {
  const metadata = fieldOf(root, 'metadata');
  const name = metadata?.kind === 'mapping' ? textOf(fieldOf(metadata, 'name')) : '';
  return shownText(`the ${kind} ${name}`.trimEnd(), 200);
}

function fieldOf(mapping: Mapping, name: string): Node | undefined {
  return [...mapping.entries].find(({ key }) => textOf(key) === name)?.value;
}

function textOf(node: Node | undefined): string {
  return node?.kind === 'scalar' ? (node.text ?? '') : '';
}
