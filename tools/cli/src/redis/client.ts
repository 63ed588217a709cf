import { readFileSync } from 'node:fs';
import { messageOf } from '@sluice/core/kit';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { timeoutOf } from './options.ts';

/** A client with the settings of the command line. It connects only for a scan; a store connects a duplicate of it. */
export type Client = Redis | Cluster;

/**
 * Creates a client for the server of the command line.
 *
 * @param address - Its URL, if another option than `--redis` has it.
 * @param more - Settings that only its own connection has.
 * @throws {UsageError} If the options do not name a server, or contradict each other. The message shows no password.
 */
export function clientOf(call: Call, address?: string, more: Pick<RedisOptions, 'enableReadyCheck'> = {}): Client {
  const { env } = call.console.terminal;
  const url = address ?? call.text('redis') ?? env['SLUICE_REDIS_URL'];
  const sentinels = call.texts('sentinel');
  const master = call.text('master');
  if (sentinels.length > 0 !== (master !== undefined)) {
    const example = 'For example --sentinel 10.0.0.1:26379 --master mymaster.';
    throw new UsageError(`\`--sentinel\` and \`--master\` must be given together. ${example}`);
  }
  if (sentinels.length > 0 && call.has('cluster')) {
    throw new UsageError('Only one of `--sentinel` and `--cluster` may be given: a cluster needs no Sentinels.');
  }
  if (url === undefined && master === undefined) throw noServer();
  const { host = '127.0.0.1', port = 6379, isTls = false, ...login } = url === undefined ? {} : serverOf(url);
  const tls = tlsOf(call, isTls);
  const own = {
    ...login,
    ...(tls && { tls }),
    lazyConnect: true,
    commandTimeout: timeoutOf(call),
    maxRetriesPerRequest: 0,
    ...more,
  };
  let client: Client;
  if (master !== undefined) {
    const { SLUICE_SENTINEL_USERNAME: sentinelUsername, SLUICE_SENTINEL_PASSWORD: sentinelPassword } = env;
    const ofSentinels = {
      sentinels: sentinels.map(sentinelAddress),
      name: master,
      ...(sentinelUsername !== undefined && { sentinelUsername }),
      ...(sentinelPassword !== undefined && { sentinelPassword }),
      // Without it the connection to the primary is not encrypted.
      ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: tls }),
    };
    client = new Redis({ ...own, ...ofSentinels });
  } else if (call.has('cluster')) client = new Cluster([{ host, port }], { redisOptions: own, lazyConnect: true });
  else client = new Redis({ ...own, host, port });
  // An 'error' event without a listener would end the process. The calls reject, too.
  return client.on('error', () => {});
}

function noServer(): UsageError {
  const remedy =
    'For example --redis redis://127.0.0.1:6379, or set the environment variable SLUICE_REDIS_URL, for other stores SLUICE_STORE.';
  return new UsageError(`\`--redis\` must be the URL of a server. ${remedy}`);
}

/** What the URL of a server contains. */
interface Server {
  readonly host?: string;
  readonly port?: number;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
  readonly isTls?: boolean;
}

function serverOf(url: string): Server {
  if (/^[\w+]*sentinel/.test(url)) {
    const remedy =
      'For example --sentinel 10.0.0.1:26379 --master mymaster. The login of the primary may be in the URL, as in redis://user:password@ignored.';
    throw new UsageError(`\`--redis\` does not take the URL of a Sentinel. ${remedy}`);
  }
  if (!/^rediss?:\/\/./.test(url) || !URL.canParse(url)) {
    const remedy = 'For example --redis redis://127.0.0.1:6379. Percent-encode special characters of a password.';
    throw new UsageError(`\`--redis\` must be a URL that begins with redis:// or rediss://. ${remedy}`);
  }
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const database = pathname.replace(/^\//, '');
  if (!/^\d*$/.test(database)) {
    throw new UsageError('The path of `--redis` must be the number of a database, as in redis://127.0.0.1:6379/2.');
  }
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 6379 : Number(port),
    ...(username !== '' && { username: decoded(username) }),
    ...(password !== '' && { password: decoded(password) }),
    ...(database !== '' && { db: Number(database) }),
    isTls: protocol === 'rediss:',
  };
}

// The message does not show the text, because it may be a password.
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new UsageError('User and password in `--redis` must be percent-encoded: write %25 for a percent sign.');
  }
}

const SENTINEL = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/;

/**
 * Reads the address of a Sentinel: a host name, IPv4, or IPv6, with or without a port.
 *
 * @throws {UsageError} If it is none.
 */
export function sentinelAddress(text: string): { host: string; port: number } {
  // IPv6 without brackets has no port.
  const isBare = text.split(':').length > 2 && !text.startsWith('[');
  const [, inBrackets, name, digits = '26379'] = SENTINEL.exec(isBare ? `[${text}]` : text) ?? [];
  const host = inBrackets ?? name;
  if (host !== undefined && Number(digits) <= 65_535) return { host, port: Number(digits) };
  throw new UsageError(
    `\`--sentinel\` must be a host with or without a port, but was '${text}'. For example --sentinel 10.0.0.1:26379 or --sentinel '[2001:db8::1]:26379'.`,
  );
}

/** How a client encrypts its connections, as `node:tls` takes it. */
interface TlsOptions {
  /** The certificates of the authorities that are trusted. Default: those of Node. */
  readonly ca?: string;
}

/**
 * Returns how connections are encrypted; undefined if they are not.
 *
 * @param isTls - Whether the URL begins with `rediss:`.
 * @throws {UsageError} If `--tls-ca` can't be read, or is given without TLS.
 */
function tlsOf(call: Call, isTls: boolean): TlsOptions | undefined {
  const file = call.text('tlsCa');
  if (file === undefined) return isTls ? {} : undefined;
  if (!isTls) {
    throw new UsageError(
      '`--tls-ca` must be given with a URL that begins with rediss://, because redis:// is not encrypted.',
    );
  }
  try {
    return { ca: readFileSync(file, 'utf8') };
  } catch (error) {
    throw new UsageError(
      `\`--tls-ca\` must be a file of certificates (PEM), but ${file} can't be read: ${messageOf(error)}.`,
    );
  }
}
