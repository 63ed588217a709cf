import type { HashTag, RedisStoreOptions } from '@sluice/redis';
import type { Call, Option } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { importModule } from '../console/module.ts';

/** The options that determine the keys of buckets. They must be those of the servers. */
export const KEY_OPTIONS: readonly Option[] = [
  { flags: '--prefix <text>', text: 'the `prefix` of the store; default: sluice:' },
  { flags: '--hash-tag <text>', text: 'the `hashTag` of the store, if it is a text such as id' },
  { flags: '--hash-tag-module <file>', text: 'an ES module that exports `hashTag`, if it is a function' },
];

/** The options that determine the server. */
const SERVER_OPTIONS: readonly Option[] = [
  {
    flags: '--redis <url>',
    text: 'redis:// or rediss:// with user, password and database; default: the environment variable SLUICE_REDIS_URL, which keeps a password out of the list of processes',
  },
  { flags: '--cluster', text: 'the URL is that of a node of a Redis Cluster' },
  { flags: '--sentinel <host:port>', text: 'a Sentinel, instead of a URL; may be given several times', repeats: true },
  {
    flags: '--master <name>',
    text: 'the name of the primary that the Sentinels watch; their password is the environment variable SLUICE_SENTINEL_PASSWORD',
  },
  { flags: '--tls-ca <file>', text: 'the CA certificates (PEM) to trust for rediss://; default: those of Node' },
  { flags: '--timeout <ms>', text: 'how long to wait for the store; default: 3000' },
];

/** The options of all commands that call Redis. */
export const REDIS_OPTIONS: readonly Option[] = [...SERVER_OPTIONS, ...KEY_OPTIONS];

/** The options of commands for one bucket, whatever store the servers have. */
export const STORE_OPTIONS: readonly Option[] = [
  {
    flags: '--store <address>',
    text: 'the store of your servers: a URL as of --redis, postgres://user@host/database, host:/run/app.sock, or serve:http://127.0.0.1:9102 of a service; default: the environment variable SLUICE_STORE, then Redis',
  },
  { flags: '--table <name>', text: 'the `table` of a store in PostgreSQL; default: sluice' },
];

/** How long to wait for the store, in milliseconds. */
export function timeoutOf(call: Call): number {
  return call.milliseconds('timeout', { min: 1, max: 60_000, unset: 3000 });
}

/** The options of a store that determine its keys. */
export type KeyOptions = Pick<RedisStoreOptions, 'prefix' | 'hashTag'>;

/** Returns the options of the store of the servers that determine its keys. */
export async function keyOptionsOf(call: Call): Promise<KeyOptions> {
  const [prefix, hashTag, module] = ['prefix', 'hashTag', 'hashTagModule'].map((name) => call.text(name));
  if (hashTag !== undefined && module !== undefined) {
    throw new UsageError('Only one of `--hash-tag` and `--hash-tag-module` may be given. Leave one out.');
  }
  const tag = module === undefined ? hashTag : await importModule('--hash-tag-module', module, 'hashTag');
  return { ...(prefix !== undefined && { prefix }), ...(tag !== undefined && { hashTag: tag as HashTag }) };
}
