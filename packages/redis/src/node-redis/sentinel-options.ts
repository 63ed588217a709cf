import type { SluiceError } from '@sluice/core';
import { complaint } from '@sluice/core/kit';
import type { ServerOptions } from '../ioredis/duplicate.ts';
import { mappedAddress } from '../servers/redirects.ts';
import type { NodeRedisClient } from './duplicate.ts';
import { sentinelOptionsOf, type SentinelClientOptions } from './private-names.ts';

/**
 * Translates the options of `createSentinel` to those of ioredis, with which the store then connects. node-redis creates
 * the client for the primary only itself, and only once it is connected to a Sentinel.
 *
 * @throws {SluiceError} `ERR_OPTION` if the version of node-redis hides the options, as 5 does, or if one of them can't be
 *   translated.
 */
export function ioredisOptionsOf(client: NodeRedisClient): ServerOptions {
  const options = sentinelOptionsOf(client);
  if (options === undefined) throw hidesOptions();
  const { name, sentinelRootNodes, nodeAddressMap, nodeClientOptions = {}, sentinelClientOptions = {} } = options;
  checkLogin('nodeClientOptions', nodeClientOptions);
  checkLogin('sentinelClientOptions', sentinelClientOptions);
  const tls = tlsOf(nodeClientOptions);
  return {
    name,
    // ioredis applies its `natMap` only to addresses that a Sentinel names.
    sentinels: sentinelRootNodes.map(({ host, port }) => {
      return mappedAddress(`${host}:${port}`, nodeAddressMap) ?? { host, port };
    }),
    natMap: (address) => mappedAddress(address, nodeAddressMap) ?? null,
    family: nodeClientOptions.socket?.family,
    username: nodeClientOptions.username,
    password: nodeClientOptions.password,
    db: nodeClientOptions.database,
    connectionName: nodeClientOptions.name,
    tls,
    enableTLSForSentinelMode: tls !== undefined,
    sentinelUsername: sentinelClientOptions.username,
    sentinelPassword: sentinelClientOptions.password,
    sentinelTLS: tlsOf(sentinelClientOptions),
  };
}

/** The options for `node:tls`; `undefined` without TLS. node-redis has them beside those of the socket. */
function tlsOf({ socket }: SentinelClientOptions): object | undefined {
  if (socket?.tls !== true) return undefined;
  // The address is the one that a Sentinel names.
  const { tls: _tls, host: _host, port: _port, path: _path, ...options } = socket;
  return options;
}

function checkLogin(name: string, { credentialsProvider }: SentinelClientOptions): void {
  if (credentialsProvider === undefined) return;
  throw complaint('ERR_OPTION', {
    option: 'client',
    demand: 'a client with a `username` and a `password`, if it is of createSentinel',
    value: `one with a \`credentialsProvider\` in its \`${name}\``,
    remedy: 'Give these two, or use a client of createClient or createCluster.',
  });
}

function hidesOptions(): SluiceError {
  return complaint('ERR_OPTION', {
    option: 'client',
    demand: 'of node-redis 6, if it is what createSentinel returns',
    value: 'a client for Sentinels of another version',
    remedy: 'Other versions hide its options. Update node-redis, or give new Redis({ sentinels, name }) of ioredis.',
  });
}
