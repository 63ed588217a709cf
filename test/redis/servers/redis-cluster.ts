import { argsOf, serverWith, type RedisServer } from './redis-server.ts';
import { onlineReplicas } from './sentinel-set.ts';
import { until } from './until.ts';

const SLOTS = 16_384;
const PRIMARIES = 3;

/** Three primaries with a third of the slots each, and a replica of each. */
export interface RedisCluster {
  /** All six: the first three began as primaries, and the replica of each stands three places later. */
  readonly nodes: readonly RedisServer[];
  /** For a client: `new Cluster(addresses)`. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** The primary of a slot, as the first of the nodes that run knows it. */
  primaryOf(slot: number): Promise<RedisServer>;
  /** The slot of a key. */
  slotOf(key: string): Promise<number>;
  /** The cluster's own name for a node. */
  idOf(node: RedisServer): Promise<string>;
  /** Whether all slots are served and `replicas` replicas are up to date. */
  isWhole(replicas: number): Promise<boolean>;
}

/** Starts it, and waits until every slot has its primary and every primary its replica. It ends with its test. */
export async function redisCluster({
  nodeTimeoutMs = 2000,
  config = {},
}: { nodeTimeoutMs?: number; config?: Readonly<Record<string, string>> } = {}): Promise<RedisCluster> {
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-node-timeout': String(nodeTimeoutMs),
    'repl-diskless-sync': 'yes',
    'repl-diskless-sync-delay': '0',
    ...config,
  };
  const nodes = await Promise.all(Array.from({ length: 2 * PRIMARIES }, () => serverWith(argsOf(settings))));
  const cluster = new Nodes(nodes);
  await cluster.join();
  await until('each primary has its replica, and every node knows all slots', () => cluster.isWhole(PRIMARIES));
  return cluster;
}

class Nodes implements RedisCluster {
  readonly nodes: readonly RedisServer[];

  constructor(nodes: readonly RedisServer[]) {
    this.nodes = nodes;
  }

  get addresses(): readonly { readonly host: string; readonly port: number }[] {
    return this.nodes.map(({ host, port }) => ({ host, port }));
  }

  async join(): Promise<void> {
    const [first, ...others] = this.nodes as [RedisServer, ...RedisServer[]];
    await Promise.all(this.nodes.map((node, index) => node.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)));
    await Promise.all(
      this.nodes.slice(0, PRIMARIES).map((node, index) => node.call('CLUSTER', 'ADDSLOTS', ...share(index))),
    );
    await Promise.all(others.map((node) => node.call('CLUSTER', 'MEET', '127.0.0.1', first.port)));
    await until('every node knows all others', () =>
      this.#everyNode(async (node) => (await known(node)) === this.nodes.length),
    );
    const ids = await Promise.all(this.nodes.map((node) => this.idOf(node)));
    const replicas = this.nodes.slice(PRIMARIES);
    await Promise.all(replicas.map((node, index) => node.call('CLUSTER', 'REPLICATE', ids[index]!)));
  }

  async primaryOf(slot: number): Promise<RedisServer> {
    const ranges = await this.#running()[0]!.call<[number, number, [string, number]][]>('CLUSTER', 'SLOTS');
    const [, , [, port] = []] = ranges.find(([from, to]) => from <= slot && slot <= to) ?? [];
    return this.nodes.find((node) => node.port === port)!;
  }

  slotOf(key: string): Promise<number> {
    return this.#running()[0]!.call<number>('CLUSTER', 'KEYSLOT', key);
  }

  idOf(node: RedisServer): Promise<string> {
    return node.call<string>('CLUSTER', 'MYID');
  }

  async isWhole(replicas: number): Promise<boolean> {
    if (!(await this.#everyNode(servesAll))) return false;
    const counts = await Promise.all(this.#running().map((node) => onlineReplicas(node)));
    return counts.reduce((sum, count) => sum + count, 0) === replicas;
  }

  #running(): readonly RedisServer[] {
    return this.nodes.filter((node) => node.isRunning);
  }

  async #everyNode(isTrue: (node: RedisServer) => Promise<boolean>): Promise<boolean> {
    return (await Promise.all(this.#running().map(isTrue))).every(Boolean);
  }
}

function share(index: number): number[] {
  const from = Math.floor((SLOTS * index) / PRIMARIES);
  const to = Math.floor((SLOTS * (index + 1)) / PRIMARIES);
  return Array.from({ length: to - from }, (_, slot) => from + slot);
}

async function known(node: RedisServer): Promise<number> {
  const info = await node.call<string>('CLUSTER', 'INFO');
  return Number(/cluster_known_nodes:(\d+)/.exec(info)?.[1]);
}

async function servesAll(node: RedisServer): Promise<boolean> {
  const info = await node.call<string>('CLUSTER', 'INFO');
  return info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}`);
}
