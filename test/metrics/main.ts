// `npm run trial -- alerts` checks what docs/limits/watching.md offers with Prometheus from Debian: promtool checks the rules, tests them, and
// checks the metrics of examples/observed, which Prometheus then scrapes each second, while Redis is stopped for some seconds.
// Every expression of the dashboard and of the rules must then have a value, and every alert must have fired at its cause, which
// the script makes: for that, the minutes and hours of the rules are seconds.
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accountId, createLimiter, everyone, memoryStore } from '@sluice/core';
import { load, loadFrom } from '@sluice/core/load';
import { metricsText } from '@sluice/core/metrics';
import { createScheduler } from '@sluice/core/scheduler';
import { leasedStore } from '@sluice/redis';
import { aptInstall } from '../../scripts/apt.mjs';
import { ALERTS, rules } from '../../scripts/alerts.mjs';
import { root } from '../../scripts/pnpm.mjs';
import { realDelay } from '../real-delay.ts';
import { ExampleServer } from '../examples/example-server.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { running } from '../redis/servers/running.ts';

/** The times of the rules, and what they are here. */
const SHORT: Readonly<Record<string, string>> = {
  '0m': '0s',
  '1m': '1s',
  '5m': '5s',
  '10m': '5s',
  '2m': '1s',
  '15m': '5s',
  '30m': '5s',
  '1h': '15s',
  '6h': '15s',
};

if (spawnSync('promtool', ['--version']).error) aptInstall('prometheus');
promtool(['check', 'rules', 'docs/metrics/rules.yml']);
promtool(['test', 'rules', 'test/metrics/rules.test.yml']);

const redis = await redisServer();
const server = await ExampleServer.start('observed', 'server.js', { REDIS_URL: redis.url });
// A second process of the same application.
const twin = await ExampleServer.start('observed', 'server.js', { REDIS_URL: redis.url });
const folder = mkdtempSync(join(tmpdir(), 'sluice-prometheus-'));
const port = 20_000 + (process.pid % 20_000);
// What examples/observed does not have: a memory store that is too small, a load limit, a scheduler, and leases.
const full = createLimiter({
  limits: {
    Visitors: { key: accountId(), count: 10, period: '1h' },
    Calls: { key: everyone(), count: 1, period: '1s' },
    Overload: load({ key: everyone(), load: loadFrom(() => 0) }),
  },
  store: memoryStore({ maxKeys: 1000 }),
  log: false,
});
const scheduler = createScheduler(full);
const leased = createLimiter({
  limits: { Pages: { key: everyone(), burst: 200, count: 100, period: '1s', overshoot: 0.1 } },
  store: leasedStore({ url: redis.url, gateways: 1, log: false }),
  log: false,
});
metricsText(full, leased);
const second = createServer((_, response) => response.end(metricsText(full, leased))).listen(0, '127.0.0.1');
await once(second, 'listening');
const twins = [server.url, twin.url].map((url) => url.slice('http://'.length));
const secondTarget = `127.0.0.1:${(second.address() as AddressInfo).port}`;
writeFileSync(join(folder, 'rules.yml'), shortened(rules()));
copyFileSync(join(root, 'deploy/prometheus.yml'), join(folder, 'deployed.yml'));
promtool(['check', 'config', join(folder, 'deployed.yml')]);
writeFileSync(
  join(folder, 'prometheus.yml'),
  `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [rules.yml]
scrape_configs: [{ job_name: shop, static_configs: [{ targets: ${JSON.stringify([...twins, secondTarget])} }] }]
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
  await traffic(15, ['/report']);
  await traffic(15);
  for (let id = 0; id < 5000; id++) full.spendSync([{ limit: 'Visitors', id: `${id}` }]);
  for (let call = 0; call < 200; call++) {
    const run = scheduler.run([{ limit: 'Calls', id: 'everyone' }], () => realDelay(60_000), { within: '10m' });
    void run.catch(() => {});
  }
  redis.freeze();
  await traffic(2);
  say(
    (await metrics()).includes('\nsluice_store_failing{store="redis"} 1\n'),
    'a stopped Redis shows within two seconds',
  );
  await traffic(8);
  redis.thaw();
  await traffic(2);
  say((await metrics()).includes('\nsluice_store_failing{store="redis"} 0\n'), 'its recovery shows within two seconds');
  await traffic(20);
  // A Redis that answers each decision after 35 ms, within the deadline and above a third of it.
  for (let round = 0; round < 150; round++) {
    redis.freeze();
    void leased.spend([{ limit: 'Pages', id: 'everyone' }]).catch(() => {});
    for (const { url } of [server, twin]) void fetch(url).catch(() => {});
    // oxlint-disable-next-line no-await-in-loop -- a rate
    await realDelay(35);
    redis.thaw();
    // oxlint-disable-next-line no-await-in-loop
    await realDelay(65);
  }
  const failing = await valueOf('max(max_over_time(sluice_store_failing[1m]))');
  say(failing === 1, `Prometheus has seen the outage: ${failing}`);
  promtool(['check', 'metrics'], await metrics());
  const { panels } = JSON.parse(readFileSync(join(root, 'docs/metrics/grafana.json'), 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  };
  for (const { title, targets } of panels) {
    for (const { expr } of targets)
      say((await valueOf(expr.replaceAll('[5m]', '[30s]'))) !== undefined, `${title}: ${expr}`);
  }
  const { expr = '' } = panels.find(({ title }) => title === 'sluice.limit.burst')?.targets[0] ?? {};
  const burst = await valueOf(expr.replace('sluice_limit_burst', 'sluice_limit_burst{limit="Requests"}'));
  say(burst === 20, `the burst of two processes is that of each: ${burst}`);
  for (const { name } of ALERTS) {
    const query = `max(max_over_time(ALERTS{alertname="${name}",alertstate="firing"}[5m]))`;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    say((await valueOf(query)) === 1, `${name} has fired`);
  }
} finally {
  prometheus.kill();
  second.close();
  await Promise.all([full.close(), leased.close({ store: true })]);
  await Promise.all([server.stop(), twin.stop()]);
  rmSync(folder, { recursive: true, force: true });
  await running.closeAllBut();
}
console.log(failed === 0 ? 'all as documented' : `${failed} not as documented`);
process.exit(failed === 0 ? 0 : 1);

/** The rules with seconds for minutes, so that their causes need not last so long. */
function shortened(text: string): string {
  return text.replaceAll(/(?<=\[|for: |offset )\d+[mh]/g, (time) => SHORT[time]!);
}

/** Sends requests for some seconds: more than are let through, and some that are queued. */
async function traffic(seconds: number, paths = ['/', '/', '/', '/report']): Promise<void> {
  const end = performance.now() + 1000 * seconds;
  while (performance.now() < end) {
    for (const { url } of [server, twin])
      void Promise.allSettled(paths.map(async (path) => (await fetch(url + path)).text()));
    void leased.spend([{ limit: 'Pages', id: 'everyone' }]).catch(() => {});
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
