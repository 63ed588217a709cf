import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

/** A file of another service, or an example in its documentation. */
export interface ForeignFile {
  readonly path: string;
  readonly text: string;
  /** Its documents, as another reader has them. Those inside ConfigMaps are in their place. */
  readonly documents: readonly unknown[];
  readonly kind: 'domains' | 'limits' | 'overrides';
}

type Fields = Readonly<Record<string, unknown>>;

const LEFT_OUT = new Set(['.git', 'node_modules', 'vendor']);

/** Finds the files with limits of envoyproxy/ratelimit, Envoy Gateway and Boulder in a folder, such as a clone. */
export function foreignFiles(folder: string): readonly ForeignFile[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : foreignFiles(path);
      if (!entry.isFile()) return [];
      if (/\.(?:ya?ml|json)$/.test(entry.name)) return fileOf(path, readFileSync(path, 'utf8'));
      return entry.name.endsWith('.md') ? examplesIn(path) : [];
    });
}

/** The examples in a page. */
function examplesIn(path: string): readonly ForeignFile[] {
  const blocks = readFileSync(path, 'utf8').matchAll(/^```ya?ml\n(domain:[^]*?)^```/gm);
  return [...blocks].flatMap(([, text = ''], i) => fileOf(`${path} example ${i + 1}`, text));
}

function fileOf(path: string, text: string): readonly ForeignFile[] {
  // Most files of a clone are of other kinds, and large.
  if (!/^[ \t"-]*(?:domain|descriptors|burst)"?:/m.test(text)) return [];
  const documents = documentsIn(text);
  const [first] = documents;
  if (documents.some((each) => isFields(each) && ('domain' in each || 'descriptors' in each)))
    return [{ path, text, documents, kind: 'domains' }];
  if (Array.isArray(first)) return first.every(isOverride) ? [{ path, text, documents, kind: 'overrides' }] : [];
  const isLimits = isFields(first) && Object.values(first).every((each) => isFields(each) && 'burst' in each);
  return isLimits ? [{ path, text, documents, kind: 'limits' }] : [];
}

function documentsIn(text: string): readonly unknown[] {
  const documents = parseAllDocuments(text, { version: '1.1', merge: true, logLevel: 'silent' });
  return documents.flatMap((document) => (document.errors.length > 0 ? [] : insides(document.toJS())));
}

function insides(document: unknown): readonly unknown[] {
  if (!isFields(document) || !('kind' in document)) return [document];
  const { kind, data, items } = document as { kind: unknown; data?: Fields; items?: readonly unknown[] };
  if (kind === 'List') return (items ?? []).flatMap(insides);
  return kind === 'ConfigMap' ? Object.values(data ?? {}).flatMap((text) => documentsIn(String(text))) : [];
}

function isOverride(item: unknown): boolean {
  return isFields(item) && Object.values(item).every((each) => isFields(each) && 'ids' in each);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
