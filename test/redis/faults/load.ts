import { Agent, get } from 'node:http';
import type { Gateway, Seen } from './gateway.ts';
import { until } from '../servers/until.ts';

const EVERY_MS = 5;

/** One request, as its client saw it. */
export interface Sent {
  readonly number: number;
  readonly account: string;
  readonly sentMs: number;
  answeredMs: number | undefined;
  /** 0 when the connection failed. */
  status: number;
}

/** A request with what the server saw of it. */
export type Answered = Sent & Partial<Seen>;

/** Clients `one` and `two` who hammer, and between them many who each ask once: 200 requests a second. */
export class Load {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #sent: Sent[] = [];
  readonly #gateway: Gateway;
  readonly #port: number;
  readonly #timer: NodeJS.Timeout;

  constructor(gateway: Gateway, port: number) {
    this.#gateway = gateway;
    this.#port = port;
    this.#timer = setInterval(() => this.#send(), EVERY_MS);
  }

  /** All requests so far. */
  answers(): Answered[] {
    return this.#sent.map((sent) => ({ ...sent, ...this.#gateway.seen(sent.number) }));
  }

  /** When the first answer by the store came to a request that was sent after `ms`, of clients named so. */
  storeDecidedAfter(ms: number, accounts: 'one' | 'two' | 'probe'): number | undefined {
    const decided = this.#sent.find(
      ({ sentMs, account, answeredMs, number }) =>
        sentMs >= ms &&
        account.startsWith(accounts) &&
        answeredMs !== undefined &&
        this.#gateway.seen(number)?.decidedBy === 'store',
    );
    return decided?.answeredMs;
  }

  /** Sends no more, and waits for what is still to come; what has not come after `withinMs` hangs. */
  async stop(withinMs: number): Promise<void> {
    clearInterval(this.#timer);
    await until('all are answered', () => this.#sent.every((sent) => sent.answeredMs !== undefined), {
      withinMs,
    }).catch(() => {});
    this.end();
  }

  /** Sends no more, and lets go of what is still to come. */
  end(): void {
    clearInterval(this.#timer);
    this.#agent.destroy();
  }

  #send(): void {
    const number = this.#sent.length;
    const isProbe = number % 2 === 1;
    const account = isProbe ? `probe-${number}` : number % 4 === 0 ? 'one' : 'two';
    const sent: Sent = { number, account, sentMs: performance.now(), answeredMs: undefined, status: 0 };
    this.#sent.push(sent);
    const path = isProbe ? '/probe' : '/hammered';
    const headers = { 'x-account': account, 'x-number': String(number) };
    get({ agent: this.#agent, host: '127.0.0.1', port: this.#port, path, headers }, (response) => {
      sent.status = response.statusCode ?? 0;
      response.resume().on('end', () => (sent.answeredMs = performance.now()));
    }).on('error', () => (sent.answeredMs = performance.now()));
  }
}
