import type { EventEmitter } from 'node:events';
import { socketOf } from './private-names.ts';

/** The documented part of a `Redis` of ioredis 5 or 6 that the store uses. */
export interface Connection extends EventEmitter {
  readonly status: string;
  readonly options: ConnectionOptions;
  connect(): Promise<void>;
  disconnect(): void;
  evalsha(args: readonly (string | number)[]): Promise<unknown>;
  eval(args: readonly (string | number)[]): Promise<unknown>;
  asking(): Promise<unknown>;
  select(db: number): Promise<unknown>;
}

interface ConnectionOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | null | undefined;
  readonly db?: number | null | undefined;
  readonly sentinels?: readonly unknown[] | null | undefined;
}

/** The documented part of a `Cluster` of ioredis 5 or 6 that the store uses. */
export interface ClusterConnection extends EventEmitter {
  readonly status: string;
  readonly options: { readonly natMap?: NatMap | null | undefined };
  nodes(role: 'all' | 'master'): Connection[];
  disconnect(reconnect?: boolean): void;
}

/** The address of a server. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Maps the addresses that servers announce to those that can be reached, as the option `natMap` of ioredis. */
export type NatMap = Readonly<Record<string, Address>> | ((address: string) => Address | null);

/** Returns `host:port` of a server, or the path of its socket. */
export function addressOf(connection: Connection): string {
  const { options } = connection;
  if (typeof options.path === 'string' && options.path !== '') return options.path;
  // With Sentinels, the options contain no address. The socket has that of the server that they named last.
  if (Array.isArray(options.sentinels)) return remoteAddress(connection) ?? 'the primary that the Sentinels name';
  return `${options.host}:${options.port}`;
}

function remoteAddress(connection: Connection): string | undefined {
  const socket = socketOf(connection);
  return socket?.remoteAddress === undefined ? undefined : `${socket.remoteAddress}:${socket.remotePort}`;
}

/** Closes a connection in any state, and waits until its socket is closed. */
export async function closeConnection(connection: Connection): Promise<void> {
  connection.disconnect();
  const socket = socketOf(connection);
  if (socket === undefined || socket.closed) return;
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy();
  await closed;
}

/** Closes the connections to all nodes of a cluster. */
export async function closeCluster(cluster: ClusterConnection): Promise<void> {
  const nodes = cluster.nodes('all');
  cluster.disconnect();
  await Promise.all(nodes.map(closeConnection));
}
