import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/** The part of a `Redis` of ioredis 5 or 6 that a line uses. */
export interface Connection extends EventEmitter {
  readonly status: string;
  /** The socket of the current or the last attempt; `undefined` before the first. */
  readonly stream: Socket | undefined;
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
  enableOfflineQueue?: boolean | undefined;
}

/** The part of a `Cluster` of ioredis 5 or 6 that a line uses: its slot map and its connections. */
export interface ClusterConnection extends EventEmitter {
  readonly status: string;
  readonly options: { readonly natMap?: NatMap | null | undefined };
  /** The nodes of each hash slot as `host:port`, the primary first. */
  readonly slots: (readonly string[] | undefined)[];
  nodes(role: 'all' | 'master'): Connection[];
  refreshSlotsCache(callback?: (error?: Error | null) => void): void;
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
export function addressOf({ options, stream }: Connection): string {
  if (typeof options.path === 'string' && options.path !== '') return options.path;
  // With Sentinels, the options contain no address. The socket has that of the server that they named last.
  if (Array.isArray(options.sentinels)) return remoteAddress(stream) ?? 'the primary that the Sentinels name';
  return `${options.host}:${options.port}`;
}

function remoteAddress(stream: Socket | undefined): string | undefined {
  return stream?.remoteAddress === undefined ? undefined : `${stream.remoteAddress}:${stream.remotePort}`;
}
