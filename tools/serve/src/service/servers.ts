import { systemTime } from '@sluice/core/kit';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { connect, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { statSync, unlinkSync } from 'node:fs';
import cluster from 'node:cluster';
import type { Time } from '@sluice/core';
import { openSessions } from '@sluice/core/http';
import { textOfMetrics, type Metric } from '@sluice/core/metrics';
import { OpenSessions } from '../grpc/open-sessions.ts';
import type { ListenAddress } from './address.ts';
import { checkServer, SOCKET_TIMEOUT_MS } from './check-server.ts';
import { checkOperator, operatorHandler, type OperatorSettings } from './operator.ts';
import type { Service } from './service.ts';

/** Where the servers of a service listen. */
export interface ServerAddresses {
  /** For proxies that ask by HTTP. */
  readonly http?: ListenAddress | undefined;
  /** For Envoy. */
  readonly grpc?: ListenAddress | undefined;
  /** For Prometheus: `/metrics`. Anyone who reaches it may read it. */
  readonly metrics?: ListenAddress | undefined;
}

/** The settings of {@link startServers}. */
export interface ServerSettings {
  /** Returns the numbers to show. Default: those of the service. */
  readonly metrics?: (() => Promise<readonly Metric[]>) | undefined;
  /** Answers operators at the address of `metrics`: `POST /operator`. Default: nobody. */
  readonly operator?: OperatorSettings | undefined;
  /** The source of time. Default: that of the process. */
  readonly time?: Time | undefined;
}

/** How many calls of one connection may be in progress: more than Envoy has by default. */
const MAX_STREAMS = 2048;
/**
 * The head of a call, in bytes and in fields. Envoy writes it, but passes on the trace of its client there. Beyond these,
 * Node resets the call instead of answering it.
 */
const MAX_HEAD = 131_072;
const MAX_HEAD_FIELDS = 2000;

/**
 * Starts the servers of a service.
 *
 * @throws {SluiceError} `ERR_OPTION` for an `operator` without an address, or whose token is missing or too short.
 */
export async function startServers(
  service: Service,
  addresses: ServerAddresses,
  { metrics = async () => service.metrics(), operator, time = systemTime }: ServerSettings = {},
): Promise<Servers> {
  if (operator !== undefined) checkOperator(operator, addresses.metrics);
  const servers = new Servers(service, time);
  try {
    if (addresses.http !== undefined) servers.http = await listening(checkServer(service), addresses.http);
    if (addresses.grpc !== undefined) servers.grpc = await listening(servers.grpcServer(), addresses.grpc);
    if (addresses.metrics !== undefined) servers.metrics = await listeningMetrics(addresses.metrics, metrics, operator);
  } catch (error) {
    await servers.close(0);
    throw error;
  }
  return servers;
}

/**
 * Starts a server for `/metrics` alone, of numbers that several processes have counted, and for operators.
 *
 * @param operator - As in {@link ServerSettings}.
 * @throws {SluiceError} `ERR_OPTION` for a token of `operator` that is missing or too short.
 */
export async function startMetrics(
  address: ListenAddress,
  metrics: () => Promise<readonly Metric[]>,
  operator?: OperatorSettings,
): Promise<Servers> {
  if (operator !== undefined) checkOperator(operator, address);
  const servers = new Servers(undefined, systemTime);
  servers.metrics = await listeningMetrics(address, metrics, operator);
  return servers;
}

/** The servers of a service that listen. */
export class Servers {
  http: HttpServer | undefined;
  grpc: Http2Server | undefined;
  metrics: HttpServer | undefined;
  readonly #service: Service | undefined;
  readonly #time: Time;
  readonly #sessions: OpenSessions;

  /** @internal Made by `startServers`. */
  constructor(service: Service | undefined, time: Time) {
    this.#service = service;
    this.#time = time;
    this.#sessions = new OpenSessions(time);
  }

  /** The ports that were chosen for port 0; undefined for what does not listen, and for unix sockets. */
  get ports(): {
    readonly http: number | undefined;
    readonly grpc: number | undefined;
    readonly metrics: number | undefined;
  } {
    return { http: portOf(this.http), grpc: portOf(this.grpc), metrics: portOf(this.metrics) };
  }

  /**
   * Answers the requests that are there, takes no new ones, and ends.
   *
   * @param withinMs - After this time, connections that are still open are closed.
   */
  async close(withinMs: number): Promise<void> {
    this.#service?.drain();
    const open = [this.http, this.grpc, this.metrics].filter((server) => server !== undefined);
    const closed = open.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    this.http?.closeIdleConnections();
    this.metrics?.closeIdleConnections();
    this.#sessions.close();
    const alarm = this.#time.alarm(withinMs, () => this.#destroy());
    await Promise.all(closed);
    alarm.cancel();
  }

  #destroy(): void {
    this.http?.closeAllConnections();
    this.metrics?.closeAllConnections();
    this.#sessions.destroy();
  }

  /** Makes a server of the rate limit service, not listening yet. */
  grpcServer(): Http2Server {
    const server = createHttp2Server({
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEAD },
      maxHeaderListPairs: MAX_HEAD_FIELDS,
    });
    server.on('session', (session) => {
      this.#sessions.add(session);
      openSessions.add(session);
      session.on('error', ignore);
    });
    server.on('sessionError', ignore);
    this.#sessions.watch();
    server.on('stream', (stream, headers) => this.#service!.handleStream(stream, headers));
    return server;
  }
}

/** How long a request may take to arrive, and how often that is looked at: it has a small body, or none. */
const METRICS_TIMEOUTS = { headersTimeout: 5000, requestTimeout: 5000, connectionsCheckingInterval: 1000 };

async function listeningMetrics(
  address: ListenAddress,
  metrics: () => Promise<readonly Metric[]>,
  operator: OperatorSettings | undefined,
): Promise<HttpServer> {
  const answersOperator = operator === undefined ? () => false : operatorHandler(operator);
  const server = createHttpServer(METRICS_TIMEOUTS, (incoming, outgoing) => {
    if (answersOperator(incoming, outgoing)) return;
    if (incoming.url !== '/metrics') {
      outgoing.writeHead(404).end();
      return;
    }
    void metrics().then((all) => {
      outgoing.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4' });
      outgoing.end(textOfMetrics(all));
    });
  });
  server.setTimeout(SOCKET_TIMEOUT_MS);
  if (operator === undefined || operator.token !== undefined) return listening(server, address);
  // The socket is private from its first moment on: it is made in this turn.
  await removeStaleSocket((address as { readonly path: string }).path);
  const before = process.umask(0o177);
  try {
    server.listen(address);
  } finally {
    process.umask(before);
  }
  await once(server, 'listening');
  return server;
}

async function listening<S extends Server>(server: S, address: ListenAddress): Promise<S> {
  // A worker of a cluster shares the socket that its primary has opened.
  if ('path' in address && !cluster.isWorker) await removeStaleSocket(address.path);
  server.listen(address);
  await once(server, 'listening');
  return server;
}

/** Removes a unix socket that a killed process has left behind: no other could listen there. */
export async function removeStaleSocket(path: string): Promise<void> {
  // Without `bigint`, or by `rmSync`, Node 20 may follow no links to modules afterwards (nodejs/node#51142).
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (file?.isSocket() === true && !(await isInUse(path))) unlinkSync(path);
}

function isInUse(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // A server that is busy, or that belongs to another user, is in use.
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'));
  });
}

function portOf(server: Server | Http2Server | undefined): number | undefined {
  return (server?.address() as AddressInfo | null | undefined)?.port;
}

function ignore(): void {}
