// The room service: `openService` and `startServers`: the options, the servers, the end.
import type { Limiter, Limits, OverrideList } from '@sluice/core';
import { createDataLimiter, eventSink, messageOf, systemTime } from '@sluice/core/kit';
import { openSessions, peerOf, trustedProxies } from '@sluice/core/http';
import { readMetrics, type Metric } from '@sluice/core/metrics';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { askedAddressFinder } from '../check/asked-address.ts';
import { CheckHandler, type ServiceParts } from '../check/check-handler.ts';
import { GrpcHandler, type UnaryMethod } from '../grpc/grpc-handler.ts';
import { HEALTH_CHECK, healthCheck } from '../grpc/health.ts';
import { Metrics } from '../metrics/metrics.ts';
import { shouldRateLimit, SHOULD_RATE_LIMIT } from '../rls/should-rate-limit.ts';
import type { ServiceEvent } from '../metrics/event.ts';
import { fieldsRead } from '../tables/fields-read.ts';
import { LiveFiles } from '../files/live-files.ts';
import { checkServiceOptions, type ServiceOptions } from './options.ts';
import { readSnapshot, type Snapshot, type SnapshotSources } from '../files/snapshot.ts';

/** How long a service waits for its store before it begins without. */
const FIRST_ANSWER_MS = 1000;

/** The name of the service of Envoy, for health checks. */
const RLS_NAME = 'envoy.service.ratelimit.v3.RateLimitService';

/**
 * Opens a service: reads its files, and follows their changes.
 *
 *     const service = await openService({ limits: 'limits.yaml', tables: 'tables.yaml' });
 *     const server = http.createServer((req, res) => service.handleCheck(req, res)).listen(9090);
 *
 * @throws {SluiceError} Rejects with `ERR_LIMIT_FILES` if the files have problems, and with the errors of `createLimiter`
 * for wrong options.
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { sources, everyMs } = checkServiceOptions(options);
  const snapshot = await readSnapshot(sources);
  const service = new Service(options, snapshot, sources);
  await service.begin();
  if (everyMs !== false) await service.watch(everyMs);
  return service;
}

/** Decides for proxies. Created by {@link openService}. */
export class Service {
  readonly #limiter: Limiter;
  readonly #metrics = new Metrics();
  readonly #emit: (event: ServiceEvent) => void;
  readonly #sources: SnapshotSources;
  readonly #check: CheckHandler;
  readonly #grpc: GrpcHandler;
  readonly #files: LiveFiles;
  readonly #addressField: string;
  #snapshot: Snapshot;
  #isDraining = false;
  #reading: Promise<void> = Promise.resolve();

  /** @internal Made by `openService`. */
  constructor(options: ServiceOptions, snapshot: Snapshot, sources: SnapshotSources) {
    const {
      store,
      failure,
      log,
      onEvent,
      trustedProxies: proxies = ['loopback', 'unix'],
      addressHeader,
      time = systemTime,
    } = options;
    this.#emit = eventSink<ServiceEvent>({ onEvent, log, time });
    const trusted = trustedProxies(proxies);
    const findAddress = askedAddressFinder({
      trustedProxies: proxies,
      addressHeader,
      emit: (message) => this.#emit({ type: 'proxy-misconfigured', message }),
    });
    this.#limiter = createDataLimiter({
      limits: snapshot.limits,
      overrides: snapshot.overrides,
      trustedProxies: [],
      time,
      ...(store !== undefined && { store }),
      ...(failure !== undefined && { failure }),
      ...(log !== undefined && { log }),
    });
    // From here on, all is counted.
    readMetrics(this.#limiter);
    this.#addressField = addressHeader?.toLowerCase() ?? 'x-forwarded-for';
    this.#snapshot = snapshot;
    this.#sources = sources;
    const parts: ServiceParts = {
      limiter: this.#limiter,
      time,
      snapshot: () => this.#snapshot,
      metrics: this.#metrics,
      trusted,
      findAddress,
      emit: this.#emit,
      isDraining: () => this.#isDraining,
    };
    this.#check = new CheckHandler(parts);
    this.#grpc = this.#grpcHandler(parts);
    this.#files = new LiveFiles(sources.files, time, () => this.reload());
  }

  /** A hash of the files in use. Every process with the same files has the same. */
  get version(): string {
    return this.#snapshot.version;
  }

  /** The limits and overrides in use, for another limiter on the store. A reload replaces them. */
  get definitions(): { readonly limits: Limits; readonly overrides: OverrideList } {
    const { limits, overrides } = this.#snapshot;
    return { limits, overrides };
  }

  /** The fields that the HTTP tables read of a proxy's request, in lower case, by the name of the table. It needs to send no other. */
  get fieldsRead(): ReadonlyMap<string, readonly string[]> {
    const tables = [...this.#snapshot.tables.http];
    return new Map(tables.map(([name, table]) => [name, fieldsRead(table, this.#addressField)]));
  }

  /** Answers a request of a proxy over HTTP: `/check/<table>`, and `/health`. */
  handleCheck(incoming: IncomingMessage, outgoing: ServerResponse): void {
    void this.#check.handle(incoming, outgoing);
  }

  /** Answers a call of gRPC: the rate limit service of Envoy, and health checks. For the event `stream` of an HTTP/2 server. */
  handleStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    openSessions.addOfServer(stream);
    this.#grpc.handle(stream, headers);
  }

  /** Returns what was counted so far: by the limiter, and of the answers to proxies. */
  metrics(): readonly Metric[] {
    return [...readMetrics(this.#limiter), ...this.#metrics.read()];
  }

  /**
   * @internal Waits a moment for the store, so that the first decisions are its own, and know who is blocked. Without it they
   * follow the failure policies.
   */
  async begin(): Promise<void> {
    await this.#limiter.ready({ timeoutMs: FIRST_ANSWER_MS }).catch(() => undefined);
  }

  /** @internal Begins to follow the files. */
  watch(everyMs: number): Promise<void> {
    return this.#files.start(everyMs);
  }

  /** Reads the files now. If they have problems, what was in use stays in use, with an event. */
  reload(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#read());
    return this.#reading;
  }

  /** Reports to health checks that the service ends, so that no new requests come. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Ends the service. Close its servers first. */
  async close(): Promise<void> {
    this.#files.stop();
    await this.#limiter.close({ store: true });
  }

  #grpcHandler(parts: ServiceParts): GrpcHandler {
    const known = new WeakMap<Http2Session, boolean>();
    const methods = new Map<string, UnaryMethod>([
      [SHOULD_RATE_LIMIT, (body, leftMs) => shouldRateLimit(body, leftMs, parts)],
      [HEALTH_CHECK, healthCheck([RLS_NAME], () => this.#isDraining)],
    ]);
    return new GrpcHandler({
      methods,
      time: parts.time,
      isTrusted: ({ session }) => {
        if (session === undefined) return false;
        let isTrusted = known.get(session);
        if (isTrusted === undefined) {
          isTrusted = parts.trusted.trusts(peerOf({ socket: session.socket }));
          known.set(session, isTrusted);
        }
        if (!isTrusted) this.#metrics.rejectedPeer();
        return isTrusted;
      },
      failed: (cause) => {
        this.#emit({ type: 'check-failed', cause, message: `A request could not be decided: ${messageOf(cause)}.` });
      },
    });
  }

  async #read(): Promise<void> {
    try {
      const snapshot = await readSnapshot(this.#sources);
      if (snapshot.version === this.#snapshot.version) return;
      // Between these two statements no request is decided: they are in one turn.
      this.#limiter.replace({ limits: snapshot.limits, overrides: snapshot.overrides });
      this.#snapshot = snapshot;
      this.#metrics.reloaded('accepted');
      const { version } = snapshot;
      this.#emit({ type: 'tables-reloaded', version, message: `files reloaded (version ${version})`, once: true });
    } catch (cause) {
      this.#metrics.reloaded('rejected');
      const message = `files NOT reloaded; still using version ${this.version}. ${(cause as Error).message}`;
      this.#emit({ type: 'tables-rejected', cause, message, once: true });
    }
  }
}
