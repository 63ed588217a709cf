import { accountId, createLimiter, type FailurePolicy, type Limiter, type Store } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express, { type Request } from 'express';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Requests under the limit `Hammered` are many for one id; each one under `Probe` has an id of its own. */
export const HAMMERED = { burst: 10, count: 20, periodMs: 1000 } as const;
export const PROBE = { burst: 10, count: 10, periodMs: 36_000_000 } as const;

/** What the server saw of one request. */
export interface Seen {
  /** When the limiter was about to ask the store, by the wall clock. */
  calledMs: number;
  /** The policy that decided, or the store. */
  decidedBy: FailurePolicy | 'store' | undefined;
  /** Why the policy decided. */
  cause?: unknown;
}

/** A server as an application would write it, which takes notes. */
export class Gateway {
  readonly limiter: Limiter<Request>;
  readonly #seen = new Map<string, Seen>();
  readonly #server: Server;

  constructor(store: Store, { policy, deadlineMs }: { policy: FailurePolicy; deadlineMs: number }) {
    const key = accountId((request: Request) => this.#note(request));
    this.limiter = createLimiter({
      limits: { Hammered: { key, ...numbers(HAMMERED) }, Probe: { key, ...numbers(PROBE) } },
      store,
      failure: { deadlineMs, onFailure: policy },
      log: () => {},
    });
    this.#server = createServer(this.#app());
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** What was seen of the request with this number. */
  seen(number: number): Seen | undefined {
    return this.#seen.get(String(number));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.limiter.close();
  }

  #app(): express.Express {
    const app = express();
    for (const [path, limit] of [
      ['/hammered', 'Hammered'],
      ['/probe', 'Probe'],
    ] as const) {
      const limited = rateLimit({
        limiter: this.limiter,
        limits: [limit],
        onDecision: ({ failure }, request) => {
          const decidedBy = failure?.policy ?? 'store';
          Object.assign(this.#seen.get(request.get('x-number')!)!, { decidedBy, cause: failure?.cause });
        },
      });
      app.get(path, limited, (_request, response) => void response.send('hello'));
    }
    return app;
  }

  #note(request: Request): string {
    this.#seen.set(request.get('x-number')!, { calledMs: Date.now(), decidedBy: undefined });
    return request.get('x-account')!;
  }
}

function numbers({ burst, count, periodMs }: typeof HAMMERED | typeof PROBE) {
  return { burst, count, period: periodMs };
}
