import {
  contentsOf,
  Fields,
  problemsError,
  problemsOf,
  Problems,
  sourceOf,
  treeOf,
  type Content,
  type Mapping,
} from '@sluice/config/kit';
import type { LimitSource, Problem } from '@sluice/config';
import { SluiceError } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';
import { documentsOf } from './documents.ts';
import { descriptorsOf, type EnvoyDescriptor, type GivenNames } from './envoy-descriptor.ts';
import { isKubernetes, kubernetesObject } from './kubernetes.ts';
import { merged } from './merge-keys.ts';
import { neededText } from './yaml-values.ts';

/** A domain of envoyproxy/ratelimit, of one file or of several. */
export interface EnvoyDomain {
  readonly domain: string;
  readonly descriptors: readonly EnvoyDescriptor[];
}

/** What files of envoyproxy/ratelimit have. */
export interface EnvoyFiles {
  readonly domains: readonly EnvoyDomain[];
  /** What they have besides, which is left out. */
  readonly notes: readonly string[];
}

const MAX_BYTES = 1_048_576;
const NAMES = {
  file: 'The file',
  demand: 'a mapping',
  remedy: 'It is the configuration of envoyproxy/ratelimit: a domain, and a list of descriptors.',
};
/** Envoy Gateway also writes a `name`, which is that of the domain. */
const ROOT = ['name', 'domain', 'descriptors'];
const DOMAIN = neededText('ingress');

/**
 * Reads files of envoyproxy/ratelimit: YAML or JSON, one document or several, by themselves or in ConfigMaps of Kubernetes.
 * The files of one domain are one.
 *
 * @throws {SluiceError} `ERR_LIMIT_FILES` with all mistakes, by line and column.
 */
export async function readEnvoyFiles(files: readonly LimitSource[]): Promise<EnvoyFiles> {
  const sources = files.map((file) => sourceOf('file', file));
  const contents = await contentsOf(sources, { maxBytes: MAX_BYTES, timeMs: 60_000, time: systemTime });
  const reading = new Reading();
  for (const [i, { label }] of sources.entries()) reading.file(label, contents[i]!);
  return reading.finished();
}

interface DomainRead {
  readonly domain: string;
  readonly descriptors: EnvoyDescriptor[];
  readonly given: GivenNames;
}

class Reading {
  readonly #domains = new Map<string, DomainRead>();
  readonly #notes: string[] = [];
  readonly #problems: Problem[] = [];
  #count = 0;

  file(label: string, content: Content): void {
    for (const document of documentsOf(content))
      this.#document(label, document, (root, problems) => this.#root(label, root, problems));
  }

  /** @throws {SluiceError} */
  finished(): EnvoyFiles {
    if (this.#count > 0) throw problemsError(this.#problems, this.#count);
    // In a domain without descriptors all passes, as in one that is not known.
    const domains = [...this.#domains.values()].filter(({ descriptors }) => descriptors.length > 0);
    if (domains.length === 0) throw nothingIn(this.#notes);
    return { domains, notes: this.#notes };
  }

  #document(label: string, content: Content, take: (root: Mapping, problems: Problems) => void): void {
    const problems = new Problems();
    const tree = treeOf(content, NAMES, problems);
    if (tree !== undefined) take(merged(tree, problems), problems);
    this.#problems.push(...problemsOf(label, problems));
    this.#count += problems.count;
  }

  #root(label: string, root: Mapping, problems: Problems): void {
    if (!isKubernetes(root)) return this.#domain(label, root, problems);
    const { files, leftOut } = kubernetesObject(root);
    for (const note of leftOut) this.#notes.push(`${label}: ${note}`);
    for (const { name, content } of files) {
      const inner = `${label}: ${name}`;
      for (const document of documentsOf(content)) {
        this.#document(inner, document, (tree, found) => {
          if (isOurs(tree)) this.#domain(inner, tree, found);
          else this.#notes.push(`${inner} is left out: it has no domain and no descriptors`);
        });
      }
    }
  }

  #domain(label: string, root: Mapping, problems: Problems): void {
    const fields = new Fields({ where: 'file', known: ROOT }, root, problems);
    const domain = (fields.needed('domain', DOMAIN) as string | undefined) ?? '';
    const read: DomainRead = this.#domains.get(domain) ?? { domain, descriptors: [], given: new Map() };
    this.#domains.set(domain, read);
    read.descriptors.push(...descriptorsOf(fields, 'descriptors', { given: read.given, file: label }));
  }
}

function nothingIn(notes: readonly string[]): SluiceError {
  const message = 'The files have no descriptors of envoyproxy/ratelimit, so they limit nothing.';
  return new SluiceError('ERR_LIMIT_FILES', [message, ...notes].join('\n'));
}

function isOurs({ entries }: Mapping): boolean {
  return [...entries].some(({ key }) => key.kind === 'scalar' && (key.text === 'domain' || key.text === 'descriptors'));
}
