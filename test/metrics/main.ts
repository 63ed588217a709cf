// `npm run alerts` checks what docs/metrics.md offers with Prometheus from Debian: promtool checks the rules, tests them, and
// checks the metrics of examples/observed, which Prometheus then scrapes each second, while Redis is stopped for some seconds.
// Every expression of the dashboard and of the rules must then have a value.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aptInstall } from '../../scripts/apt.mjs';
import { ALERTS } from '../../scripts/alerts.mjs';
import { root } from '../../scripts/pnpm.mjs';
import { realDelay } from '../real-delay.ts';
import { ExampleServer } from '../examples/example-server.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { running } from '../redis/servers/running.ts';

/** The instruments of what the server does not have: a memory store and a load limit. */
const ABSENT = new Set(['sluice.memory.buckets', 'sluice.memory.evicted', 'sluice.memory.size', 'sluice.load.level']);

if (spawnSync('promtool', ['--version']).error) aptInstall('prometheus');
promtool(['check', 'rules', 'docs/metrics/rules.yml']);
promtool(['test', 'rules', 'test/metrics/rules.test.yml']);

const redis = await redisServer();
const server = await ExampleServer.start('observed', 'server.js', { REDIS_URL: redis.url });
const folder = mkdtempSync(join(tmpdir(), 'sluice-prometheus-'));
const port = 20_000 + (process.pid % 20_000);
writeFileSync(
  join(folder, 'prometheus.yml'),
  `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${join(root, 'docs/metrics/rules.yml')}']
scrape_configs: [{ job_name: shop, static_configs: [{ targets: ['${server.url.slice('http://'.length)}'] }] }]
`,
);
const prometheus = spawn(
  'prometheus',
  [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ],
  { stdio: 'ignore' },
);
let failed = 0;
try {
  await traffic(20);
  redis.freeze();
  await traffic(2);
  say(
    (await metrics()).includes('\nsluice_store_failing{store="redis"} 1\n'),
    'a stopped Redis shows within two seconds',
  );
  await traffic(5);
  redis.thaw();
  await traffic(2);
  say((await metrics()).includes('\nsluice_store_failing{store="redis"} 0\n'), 'its recovery shows within two seconds');
  await traffic(20);
  const failing = await valueOf('max(max_over_time(sluice_store_failing[1m]))');
  say(failing === 1, `Prometheus has seen the outage: ${failing}`);
  promtool(['check', 'metrics'], await metrics());
  const { panels } = JSON.parse(readFileSync(join(root, 'docs/metrics/grafana.json'), 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  for (const { title, targets } of panels) {
    if (ABSENT.has(title)) continue;
    for (const { expr } of targets)
      say((await valueOf(expr.replaceAll('[5m]', '[30s]'))) !== undefined, `${title}: ${expr}`);
  }
  for (const { name, expr } of ALERTS) {
    // The value beside the threshold, and not whether it is reached.
    const [left] = expr.split(/ > (?:\d|3 \*)/);
    // The first needs a memory store, and the second a server that has run for an hour: promtool tests them.
    if (name === 'SluiceBucketsEvicted' || name === 'SluiceDenialsTripled') continue;
    say((await valueOf(left!.replaceAll(/\[\d+m\]/g, '[30s]'))) !== undefined, `${name}: ${left}`);
  }
} finally {
  prometheus.kill();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
  await running.closeAllBut();
}
console.log(failed === 0 ? 'all as documented' : `${failed} not as documented`);
process.exit(failed === 0 ? 0 : 1);

/** Sends requests for some seconds: more than are let through, and some that are queued. */
async function traffic(seconds: number): Promise<void> {
  const end = performance.now() + 1000 * seconds;
  while (performance.now() < end) {
    const paths = ['/', '/', '/', '/report'];
    void Promise.allSettled(paths.map(async (path) => (await fetch(server.url + path)).text()));
    // oxlint-disable-next-line no-await-in-loop -- a rate
    await realDelay(100);
  }
}

async function metrics(): Promise<string> {
  return (await fetch(`${server.url}/metrics`)).text();
}

/** The largest value of a query; undefined when it has none. */
async function valueOf(query: string): Promise<number | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`);
  const { data } = (await response.json()) as { data?: { result: { value: [number, string] }[] } };
  const values = (data?.result ?? []).map(({ value }) => Number(value[1])).filter((value) => !Number.isNaN(value));
  return values.length === 0 ? undefined : Math.max(...values);
}

function promtool(args: readonly string[], input?: string): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: root, input, encoding: 'utf8' });
  say(status === 0, `promtool ${args.join(' ')}${status === 0 ? '' : `\n${stdout}${stderr}`}`);
}

function say(isRight: boolean, what: string): void {
  console.log(`${isRight ? 'ok    ' : 'WRONG '} ${what}`);
  if (!isRight) failed += 1;
}
