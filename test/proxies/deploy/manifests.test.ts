import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  composeProblems,
  deployed,
  deployFolder,
  manifestProblems,
  unknownFields,
  type Manifest,
} from './manifests.ts';

interface Kustomization {
  readonly resources: readonly string[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly images?: readonly { readonly name: string }[];
}

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly [string, string] } } };
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
}

interface Deployment extends Manifest {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly [Container];
        readonly volumes: readonly [{ readonly configMap: { readonly name: string } }];
      };
    };
  };
}

const own = deployed('kustomization.yaml') as Kustomization;
const monitoring = deployed('monitoring/kustomization.yaml') as Kustomization;
const manifests = [...own.resources, ...monitoring.resources.map((file) => `monitoring/${file}`)];
const deployment = deployed('kubernetes/deployment.yaml') as Deployment;
const pod = deployment.spec.template.spec;
const [container] = pod.containers;
const compose = deployed('compose.yaml') as { services: { sluice: { stop_grace_period: string } } };

describe('the schemas', () => {
  it.each(manifests)('of Kubernetes and its operator find nothing wrong in %s', (file) => {
    expect(manifestProblems(deployed(file) as Manifest)).toEqual([]);
  });

  it('of Compose find nothing wrong in compose.yaml', () => {
    expect(composeProblems(compose)).toEqual([]);
  });

  it('find a wrong value, a missing one, and a wrong field of Compose', () => {
    const { spec, ...rest } = deployment;
    const wrong = { ...rest, spec: { ...spec, replicas: '3' } } as unknown as Manifest;
    expect(manifestProblems(wrong)).toEqual(['data/spec/replicas must be integer']);
    const { template: _, ...without } = spec;
    expect(manifestProblems({ ...rest, spec: without } as Manifest).join()).toContain('template');
    expect(composeProblems({ services: { sluice: { read_onyl: true } } }).join()).toContain('/services/sluice: ');
  });
});

it('no manifest has a field that its kind does not have', () => {
  const { spec, ...rest } = deployment;
  const wrong = { ...rest, spec: { ...spec, replica: 3 } } as Manifest;
  const all = manifests.map((file) => deployed(file) as Manifest);
  expect(unknownFields([...all, wrong])).toEqual([expect.stringContaining('"replica"')]);
});

describe('the manifests', () => {
  it('are all in a kustomization', () => {
    for (const [folder, { resources }] of [
      ['kubernetes', own],
      ['monitoring', monitoring],
    ] as const) {
      const files = readdirSync(join(deployFolder, folder)).filter((file) => file !== 'kustomization.yaml');
      expect(resources.map((file) => file.replace('kubernetes/', '')).toSorted()).toEqual(files.toSorted());
    }
  });

  it('mount the ConfigMap that the kustomization makes of the files in config/', () => {
    const [map] = own.configMapGenerator!;
    expect(map!.name).toBe(pod.volumes[0].configMap.name);
    expect(map!.files).toEqual(readdirSync(join(deployFolder, 'config')).map((file) => `config/${file}`));
    expect(own.images!.map(({ name }) => name)).toEqual([container.image]);
  });

  it('choose the pods of the Deployment, and its ports by their names', () => {
    const labels = deployment.spec.template.metadata.labels;
    const names = new Set(container.ports.map(({ name }) => name));
    type Chooser = { spec: { selector?: object; podSelector?: object } };
    const chooserIn = (file: string): object => {
      const { spec } = deployed(file) as Chooser;
      return (spec.selector ?? spec.podSelector)!;
    };
    expect(chooserIn('kubernetes/service.yaml')).toEqual(labels);
    for (const file of ['kubernetes/disruption.yaml', 'kubernetes/network.yaml', 'monitoring/service-monitor.yaml'])
      expect(chooserIn(file)).toEqual({ matchLabels: labels });
    const service = deployed('kubernetes/service.yaml') as { spec: { ports: { name: string; targetPort: string }[] } };
    for (const { targetPort } of service.spec.ports) expect(names).toContain(targetPort);
    const network = deployed('kubernetes/network.yaml') as { spec: { ingress: { ports: { port: string }[] }[] } };
    for (const { port } of network.spec.ingress.flatMap(({ ports }) => ports)) expect(names).toContain(port);
    const monitor = deployed('monitoring/service-monitor.yaml') as { spec: { endpoints: { port: string }[] } };
    expect(service.spec.ports.map(({ name }) => name)).toContain(monitor.spec.endpoints[0]!.port);
  });

  it('share the limits among as many gateways as there are replicas', () => {
    expect(container.args).toContain(`--gateways=${deployment.spec.replicas}`);
  });

  it('wait longer for the end than connections are drained, and compose.yaml does too', () => {
    const [drainMs] = container.args.flatMap((each) => /^--drain=(\d+)$/.exec(each)?.[1] ?? []).map(Number);
    const [, preStopS] = container.lifecycle.preStop.exec.command;
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(drainMs! + 1000 * Number(preStopS));
    expect(Number.parseInt(compose.services.sluice.stop_grace_period, 10) * 1000).toBeGreaterThan(drainMs!);
  });
});

it('compose.yaml mounts files and folders that exist', () => {
  const { services } = deployed('compose.yaml') as { services: Record<string, { volumes?: string[] }> };
  const sources = Object.values(services).flatMap(({ volumes = [] }) => volumes.map((each) => each.split(':')[0]!));
  const ours = sources.filter((each) => each.startsWith('.'));
  expect(ours.filter((each) => !existsSync(join(deployFolder, each)))).toEqual([]);
});

it('the PrometheusRule has the rules for Prometheus', () => {
  const rules: unknown = parse(readFileSync(join(deployFolder, '../docs/metrics/rules.yml'), 'utf8'));
  expect(deployed('monitoring/prometheus-rule.yaml')).toHaveProperty('spec', rules);
});
