import { Check, type Finding } from './finding.ts';
import type { ServerInfo } from './server-info.ts';

/** The oldest that has all commands of the store. */
const OLDEST = [6, 2] as const;

/** Checks of what a server reports about itself: each finds what would fail later. */
export const SERVER_CHECKS: readonly ((info: ServerInfo, isCluster: boolean) => Finding)[] = [
  version,
  role,
  cluster,
  loading,
  memory,
  persistence,
  replicas,
  connections,
];

function version(info: ServerInfo): Finding {
  const check = new Check('server');
  const { name, redisVersion } = info.product;
  const [major = 0, minor = 0] = redisVersion.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return check.ok(name);
  return check.wrong(name, `The store needs version ${OLDEST.join('.')} of Redis, or what is like it. Upgrade it.`);
}

function role(info: ServerInfo): Finding {
  const check = new Check('role');
  const found = info.text('role') ?? 'not said';
  if (found !== 'slave') return check.ok(found === 'master' ? 'primary' : found);
  const of = `a replica of ${info.text('master_host')}:${info.text('master_port')}`;
  return check.wrong(of, 'It takes no writes. Connect to the primary, or through Sentinel.');
}

function cluster(info: ServerInfo, isCluster: boolean): Finding {
  const check = new Check('cluster');
  const isNode = info.text('cluster_enabled') === '1';
  if (isNode === isCluster) return check.ok(isNode ? 'a node of one' : 'no');
  if (isNode) return check.wrong('a node of one', 'Pass a `Cluster` as `client` in your servers, and --cluster here.');
  return check.wrong('no', 'It is a single server. Pass a `Redis` as `client` in your servers, and no --cluster here.');
}

function loading(info: ServerInfo): Finding {
  const check = new Check('loading');
  if (info.text('loading') !== '1' && info.text('async_loading') !== '1') return check.ok('done');
  return check.wrong('it loads its data', 'It answers when that is done. Ask again then.');
}

// A policy that evicts keys forgets what clients have used: they get their bursts again.
function memory(info: ServerInfo): Finding {
  const check = new Check('memory');
  const [most = 0, used = 0] = [info.number('maxmemory'), info.number('used_memory')];
  if (most === 0) return check.ok('no `maxmemory`');
  const policy = info.text('maxmemory_policy') ?? 'not said';
  const found = `${Math.round((100 * used) / most)} % of \`maxmemory\`, ${policy}`;
  if (policy !== 'noeviction' && policy !== 'volatile-ttl') {
    return check.wrong(
      found,
      'It may evict buckets, so that clients get their bursts again. Set `maxmemory-policy volatile-ttl`.',
    );
  }
  if (policy === 'noeviction' && used > 0.9 * most) {
    return check.wrong(
      found,
      'It will reject writes soon. Give it more memory, or set `maxmemory-policy volatile-ttl`.',
    );
  }
  return check.ok(found);
}

function persistence(info: ServerInfo): Finding {
  const check = new Check('persistence');
  const failed = ['rdb_last_bgsave_status', 'aof_last_bgrewrite_status', 'aof_last_write_status'].filter(
    (name) => info.text(name) === 'err',
  );
  if (failed.length > 0) {
    return check.wrong(
      `${failed.join(', ')} is err`,
      "It can't save, and may reject writes (MISCONF). Check its log and its disk.",
    );
  }
  return check.ok(info.text('aof_enabled') === '1' ? 'append-only file' : 'not needed');
}

function replicas(info: ServerInfo): Finding {
  const check = new Check('replicas');
  const good = info.number('min_slaves_good_slaves');
  const connected = info.number('connected_slaves') ?? 0;
  // It is only said while `min-replicas-to-write` is set.
  if (good !== 0 || info.text('role') !== 'master') return check.ok(String(connected));
  return check.wrong(
    `${connected}, none of them good`,
    'It rejects writes while `min-replicas-to-write` demands one (NOREPLICAS). Start its replicas, or set it to 0.',
  );
}

function connections(info: ServerInfo): Finding {
  const check = new Check('connections');
  const [used = 0, most] = [info.number('connected_clients'), info.number('maxclients')];
  if (most === undefined) return check.ok(String(used));
  const found = `${used} of ${most}`;
  if (used < 0.9 * most) return check.ok(found);
  return check.wrong(found, 'It will refuse processes soon. Raise `maxclients`, or make fewer connections.');
}
