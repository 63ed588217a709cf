import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';

/** What a line uses of a connection to one server: a `Redis` of ioredis 5 or 6. */
export interface Connection extends EventEmitter {
  readonly status: string;
  /** The socket of the present or the last attempt; none before the first. */
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

/** What a line uses of a `Cluster` of ioredis 5 or 6: its map of the slots and the connections that it holds. */
export interface ClusterConnection extends EventEmitter {
  readonly status: string;
  readonly options: { readonly natMap?: NatMap | null | undefined };
  /** For each hash slot the nodes that hold it as `host:port`, the primary first. */
  readonly slots: (readonly string[] | undefined)[];
  nodes(role: 'all' | 'master'): Connection[];
  refreshSlotsCache(callback?: (error?: Error | null) => void): void;
  disconnect(reconnect?: boolean): void;
}

/** Where a server is. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where a server is that announces itself by another address. */
export type NatMap = Readonly<Record<string, Address>> | ((address: string) => Address | null);

/** `host:port` of a server, or the path of its socket. */
export function addressOf({ options, stream }: Connection): string {
  if (typeof options.path === 'string' && options.path !== '') return options.path;
  // The options of a client behind Sentinels name none: it has the server that they named last.
  if (Array.isArray(options.sentinels)) return remoteAddress(stream) ?? 'the primary that the Sentinels name';
  return `${options.host}:${options.port}`;
}

function remoteAddress(stream: Socket | undefined): string | undefined {
  return stream?.remoteAddress === undefined ? undefined : `${stream.remoteAddress}:${stream.remotePort}`;
}
