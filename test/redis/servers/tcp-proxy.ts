import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { reservedPort } from './port.ts';
import { Link, type LinkRules } from './proxy-link.ts';
import { running } from './running.ts';

const UNHARMED: LinkRules = { delayMs: 0, requests: 'pass', replies: 'pass' };

/** A TCP proxy in front of a server, which does to its connections what networks do. */
export class TcpProxy {
  readonly #target: { readonly port: number };
  readonly #links = new Set<Link>();
  #server: Server;
  readonly #port: number;
  #rules: LinkRules = UNHARMED;
  #resets = false;
  #requestedBytes = 0;
  #lostBytes = 0;
  /** Called with all that clients send. */
  onRequest: (chunk: Buffer) => void = () => {};

  /** @param port - A reserved port: no other program takes it while the proxy does not listen. */
  constructor(target: { readonly port: number }, port: number) {
    this.#target = target;
    this.#port = port;
    this.#server = this.#makeServer();
  }

  get host(): string {
    return '127.0.0.1';
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** How many bytes clients have sent. */
  get requestedBytes(): number {
    return this.#requestedBytes;
  }

  /** How many bytes were dropped, of both directions. */
  get lostBytes(): number {
    return this.#lostBytes;
  }

  /** How many connections go through it now. */
  get connections(): number {
    return this.#links.size;
  }

  /** Listens, at the same port each time. */
  async listen(): Promise<void> {
    this.#server = this.#makeServer();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Ends the fault. What was dropped stays dropped; what was held is sent on. */
  async pass(): Promise<void> {
    this.#resets = false;
    this.#obey(UNHARMED);
    if (!this.#server.listening) await this.listen();
  }

  /** Every chunk takes that much longer, in each direction half of it. */
  delay(roundTripMs: number): void {
    this.#obey({ ...UNHARMED, delayMs: roundTripMs / 2 });
  }

  /** What is sent is kept and sent on when the fault ends: a network that stalls. */
  stall(): void {
    this.#obey({ ...UNHARMED, requests: 'hold', replies: 'hold' });
  }

  /** What is sent is lost. A connection that lost something stays dead for good, without a word. */
  blackhole(direction: 'both' | 'requests' | 'replies' = 'both'): void {
    const requests = direction === 'replies' ? 'pass' : 'drop';
    const replies = direction === 'requests' ? 'pass' : 'drop';
    this.#obey({ ...UNHARMED, requests, replies });
  }

  /** All connections end with RST, and each new one too. */
  reset(): void {
    this.#resets = true;
    this.resetOnce();
  }

  /** All connections end with RST; new ones are well. */
  resetOnce(): void {
    for (const link of this.#links) link.reset();
  }

  /** Nobody listens: connections end, and new ones are refused. */
  async refuse(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const link of this.#links) link.end();
    await closed;
  }

  /** The next reply on each connection that is open now is cut off: the server has done what it was told. */
  cutNextReply(): void {
    for (const link of this.#links) link.cutNextReply();
  }

  /** Ends it. */
  async close(): Promise<void> {
    for (const link of this.#links) link.reset();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  #makeServer(): Server {
    return createServer({ noDelay: true }, (client) => this.#accept(client));
  }

  #accept(client: Socket): void {
    if (this.#resets) return void client.resetAndDestroy();
    const link = new Link(client, this.#target.port, this.#rules, {
      onRequest: (chunk) => {
        this.#requestedBytes += chunk.length;
        this.onRequest(chunk);
      },
      onLoss: (chunk) => (this.#lostBytes += chunk.length),
    });
    this.#links.add(link);
    client.once('close', () => this.#links.delete(link));
  }

  #obey(rules: LinkRules): void {
    this.#rules = rules;
    for (const link of this.#links) link.obey(rules);
  }
}

/** Starts a proxy in front of a server. It ends with the test that started it. */
export async function tcpProxy(target: { readonly port: number }): Promise<TcpProxy> {
  const proxy = new TcpProxy(target, await reservedPort());
  running.add({ close: () => proxy.close() });
  await proxy.listen();
  return proxy;
}
