import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { reservedPort } from '../../redis/servers/port.ts';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { until } from '../../redis/servers/until.ts';
import { Program } from '../program.ts';
import { deployed, deployFolder } from './manifests.ts';

const MAIN = fileURLToPath(new URL('../../../tools/cli/dist/main.js', import.meta.url));

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly valueFrom: object }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}

interface Deployment {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [Container] } } };
}

interface Compose {
  readonly services: {
    readonly sluice: {
      readonly command: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
    };
  };
}

interface Prometheus {
  readonly scrape_configs: readonly [{ readonly static_configs: readonly [{ readonly targets: readonly string[] }] }];
}

const deployment = deployed('kubernetes/deployment.yaml') as Deployment;
const [container] = deployment.spec.template.spec.containers;
const { sluice } = (deployed('compose.yaml') as Compose).services;

const HTTP = 9090;
const METRICS = 9102;

/** Runs words and variables of a manifest over its files, on a Redis of this test and on ports of its own. */
async function serving(words: readonly string[], variables: readonly string[]) {
  const redis = await redisServer();
  const ports = new Map([
    [HTTP, await reservedPort()],
    [METRICS, await reservedPort()],
  ]);
  const own = words.map((word) => word.replace(/(?<=:)\d+$/, (port) => String(ports.get(Number(port))!)));
  // The program is started with the environment of this process: a variable for its Redis, and no other.
  const env = variables.map((name) => `${name}=${redis.url}`);
  const program = await Program.start(
    'env',
    [...env, process.execPath, MAIN, ...own],
    ports.get(HTTP)!,
    join(deployFolder, 'config'),
  );
  onTestFinished(async () => void (await program.stop('SIGKILL')));
  const get = (port: number, path: string, client = '203.0.113.7'): Promise<Response> =>
    fetch(`http://127.0.0.1:${ports.get(port)!}${path}`, { headers: { 'X-Forwarded-For': client } });
  await until('all ports listen', () => program.output.includes('metrics listens on'));
  return { program, redis, get };
}

it.each([
  ['the Deployment', container.args, container.env.map(({ name }) => name)],
  // There, proxies are in a private network, and here on the loopback.
  ['compose.yaml', [...sluice.command, '--trust=loopback'], Object.keys(sluice.environment)],
])('the words and files of %s serve, count in the Redis, and show it in the metrics', async (_, words, variables) => {
  const { get, redis, program } = await serving(words, variables);
  expect((await get(HTTP, '/health')).status).toBe(200);
  await until('Redis decides', async () => {
    await get(HTTP, '/check/api');
    return (await redis.call<string[]>('KEYS', 'sluice:PerClient:*')).length > 0;
  });
  const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await get(HTTP, '/check/api')).status));
  expect(statuses).toContain(429);
  const metrics = await (await get(METRICS, '/metrics')).text();
  expect(metrics).toContain('sluice_serve_answers_total{table="http:api"');
  expect(metrics).toContain('sluice_store_failing{store="redis"} 0');
  expect(await program.stop()).toBe(0);
});

it('the ports of the Deployment are those that its words open, and its probes ask a path of the one for proxies', async () => {
  const opened = container.args.flatMap((word) => /^--\w+=0\.0\.0\.0:(\d+)$/.exec(word)?.[1] ?? []).map(Number);
  expect(container.ports.map(({ containerPort }) => containerPort)).toEqual(opened);
  const { get, redis } = await serving(container.args, ['SLUICE_REDIS_URL']);
  redis.freeze();
  onTestFinished(() => redis.thaw());
  // Also while Redis hangs: a restart would not help.
  await get(HTTP, '/check/api');
  for (const { httpGet } of [container.readinessProbe, container.livenessProbe]) {
    const port = container.ports.find(({ name }) => name === httpGet.port)!.containerPort;
    // oxlint-disable-next-line no-await-in-loop -- one probe after the other
    expect((await get(port, httpGet.path)).status).toBe(200);
  }
});

it('the Dockerfile opens the ports, and its own words are among those of the Deployment', () => {
  const dockerfile = readFileSync(join(deployFolder, 'Dockerfile'), 'utf8');
  expect(dockerfile).toContain(`\nEXPOSE ${container.ports.map(({ containerPort }) => containerPort).join(' ')}\n`);
  const prometheus = deployed('prometheus.yml') as Prometheus;
  expect(prometheus.scrape_configs[0].static_configs[0].targets).toEqual([`sluice:${METRICS}`]);
});
