import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argsOf, serverWith, type RedisServer } from './redis-server.ts';
import { serversFolder } from './undertaker.ts';
import { until } from './until.ts';

const NAME = 'sluice';

/** One primary, two replicas and three sentinels, which replace a primary that is down. */
export interface SentinelSet {
  /** What the sentinels call the primary. */
  readonly name: string;
  /** All three servers, the first primary first. */
  readonly servers: readonly RedisServer[];
  readonly sentinels: readonly RedisServer[];
  /** For a client: `new Redis({ sentinels, name })`. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** The primary that the sentinels name now. */
  primary(): Promise<RedisServer>;
}

interface SentinelSetOptions {
  /** Settings of the three servers. */
  readonly config?: Readonly<Record<string, string>>;
  /** How long a primary may be silent before it is down. */
  readonly downAfterMs?: number;
}

/** Starts them, and waits until all know each other. They end with the test that started them. */
export async function sentinelSet({ config = {}, downAfterMs = 1000 }: SentinelSetOptions = {}): Promise<SentinelSet> {
  const replication = { 'repl-diskless-sync': 'yes', 'repl-diskless-sync-delay': '0', ...config };
  const primary = await serverWith(argsOf(replication));
  const replicaOf = { ...replication, replicaof: `127.0.0.1 ${primary.port}` };
  const replicas = await Promise.all([0, 1].map(() => serverWith(argsOf(replicaOf))));
  const servers = [primary, ...replicas];
  await until('both replicas have synchronised', async () => (await onlineReplicas(primary)) === 2);
  const sentinels = await Promise.all(
    [0, 1, 2].map((index) => sentinel({ index, primaryPort: primary.port, downAfterMs })),
  );
  await until('each sentinel knows all others', async () =>
    (await Promise.all(sentinels.map(knowsAll))).every(Boolean),
  );
  return {
    name: NAME,
    servers,
    sentinels,
    addresses: sentinels.map(({ host, port }) => ({ host, port })),
    async primary() {
      const [, port] = await sentinels[0]!.call<string[]>('SENTINEL', 'get-master-addr-by-name', NAME);
      return servers.find((server) => server.port === Number(port))!;
    },
  };
}

function sentinel({
  index,
  primaryPort,
  downAfterMs,
}: {
  index: number;
  primaryPort: number;
  downAfterMs: number;
}): Promise<RedisServer> {
  // A sentinel writes into its file what it finds out.
  const file = join(serversFolder(), `sentinel-${primaryPort}-${index}.conf`);
  writeFileSync(
    file,
    `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} 2
sentinel down-after-milliseconds ${NAME} ${downAfterMs}
sentinel failover-timeout ${NAME} 5000
sentinel parallel-syncs ${NAME} 2
`,
  );
  return serverWith([file, '--sentinel']);
}

async function knowsAll(sentinelServer: RedisServer): Promise<boolean> {
  const fields = await sentinelServer.call<string[]>('SENTINEL', 'master', NAME);
  const known = new Map(pairs(fields));
  return known.get('num-slaves') === '2' && known.get('num-other-sentinels') === '2';
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((value, index) => (index % 2 === 0 ? [[value, flat[index + 1]!] as [string, string]] : []));
}

/** How many replicas of a server are up to date. */
export async function onlineReplicas(server: RedisServer): Promise<number> {
  const info = await server.call<string>('INFO', 'replication');
  return info.match(/^slave\d+:.*state=online/gm)?.length ?? 0;
}
