import { credentials, loadPackageDefinition, type Client, type ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const OPTIONS = { keepCase: true, enums: String, longs: Number, defaults: true } as const;

/** A descriptor as grpc-js takes it. */
export interface SentDescriptor {
  readonly entries: readonly { readonly key: string; readonly value?: string }[];
  readonly hits_addend?: { readonly value: number };
  readonly is_negative_hits?: boolean;
}

export interface Sent {
  readonly domain: string;
  readonly descriptors: readonly SentDescriptor[];
  readonly hits_addend?: number;
}

interface ReceivedStatus {
  readonly code: 'OK' | 'OVER_LIMIT';
  readonly current_limit: { readonly requests_per_unit: number; readonly unit: string; readonly name: string } | null;
  readonly limit_remaining: number;
  readonly duration_until_reset: { readonly seconds: number; readonly nanos: number } | null;
}

export interface Received {
  readonly overall_code: 'OK' | 'OVER_LIMIT';
  readonly statuses: readonly ReceivedStatus[];
  readonly response_headers_to_add: readonly { readonly key: string; readonly value: string }[];
  readonly raw_body: Buffer;
  readonly dynamic_metadata: { readonly fields: Readonly<Record<string, unknown>> } | null;
}

type Call<Request, Response> = (
  request: Request,
  done: (error: ServiceError | null, response: Response) => void,
) => void;

/** A client that calls as Envoy does, made from the definition of the protocol by grpc-js. */
export class Envoy {
  readonly #rls: Client & { readonly ShouldRateLimit: Call<Sent, Received> };
  readonly #health: Client & { readonly Check: Call<{ service: string }, { status: string }> };

  constructor(address: string) {
    this.#rls = clientOf('rls.proto', 'envoy.service.ratelimit.v3.RateLimitService', address) as never;
    this.#health = clientOf('health.proto', 'grpc.health.v1.Health', address) as never;
  }

  ask(request: Sent): Promise<Received> {
    return called((done) => this.#rls.ShouldRateLimit(request, done));
  }

  async health(service = ''): Promise<string> {
    return (await called<{ status: string }>((done) => this.#health.Check({ service }, done))).status;
  }

  close(): void {
    this.#rls.close();
    this.#health.close();
  }
}

/** A client until the test ends. */
export function envoyOf(port: number | undefined): Envoy {
  const envoy = new Envoy(`127.0.0.1:${port}`);
  onTestFinished(() => envoy.close());
  return envoy;
}

/** A descriptor of pairs: `descriptor({ path: '/login', remote_address: '203.0.113.7' })`. */
export function descriptor(
  entries: Readonly<Record<string, string>>,
  more: Partial<SentDescriptor> = {},
): SentDescriptor {
  return { entries: Object.entries(entries).map(([key, value]) => ({ key, value })), ...more };
}

function clientOf(file: string, name: string, address: string): Client {
  const path = fileURLToPath(new URL(`proto/${file}`, import.meta.url));
  const root = loadPackageDefinition(loadSync(path, OPTIONS)) as Record<string, unknown>;
  const found = name.split('.').reduce<unknown>((scope, part) => (scope as Record<string, unknown>)[part], root);
  return new (found as new (address: string, credentials: unknown) => Client)(address, credentials.createInsecure());
}

function called<Response>(
  call: (done: (error: ServiceError | null, response: Response) => void) => void,
): Promise<Response> {
  return new Promise((resolve, reject) =>
    call((error, response) => (error === null ? resolve(response) : reject(error))),
  );
}
