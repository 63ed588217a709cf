import { connect, type Socket } from 'node:net';

/** What happens to the bytes of one direction: `hold` sends them on later, `drop` never. */
type Fate = 'pass' | 'hold' | 'drop';

/** What a proxy does to a connection. */
export interface LinkRules {
  /** How much longer a chunk takes in each direction. */
  readonly delayMs: number;
  readonly requests: Fate;
  readonly replies: Fate;
}

/** What a proxy wants to know of a connection. */
export interface LinkEvents {
  onRequest(chunk: Buffer): void;
  onLoss(chunk: Buffer): void;
}

/** One connection through a proxy. */
export class Link {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #requests: Lane;
  readonly #replies: Lane;
  #cutsNextReply = false;

  constructor(client: Socket, port: number, rules: LinkRules, events: LinkEvents) {
    this.#client = client;
    this.#upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#requests = new Lane(this.#upstream, events);
    this.#replies = new Lane(client, events);
    this.obey(rules);
    client.on('data', (chunk) => {
      events.onRequest(chunk);
      this.#requests.carry(chunk);
    });
    this.#upstream.on('data', (chunk) => (this.#cutsNextReply ? this.reset() : this.#replies.carry(chunk)));
    for (const [one, other] of this.#bothWays()) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroySoon());
    }
  }

  obey({ delayMs, requests, replies }: LinkRules): void {
    this.#requests.obey(requests, delayMs);
    this.#replies.obey(replies, delayMs);
  }

  cutNextReply(): void {
    this.#cutsNextReply = true;
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#upstream.destroy();
  }

  end(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #bothWays(): [Socket, Socket][] {
    return [
      [this.#client, this.#upstream],
      [this.#upstream, this.#client],
    ];
  }
}

/** One direction of a connection. */
class Lane {
  readonly #to: Socket;
  readonly #events: LinkEvents;
  #held: Buffer[] = [];
  readonly #delayed: Buffer[] = [];
  #fate: Fate = 'pass';
  #delayMs = 0;
  #dead = false;
  /** When the last delayed chunk arrives: a later one does not overtake it. */
  #clearMs = 0;

  constructor(to: Socket, events: LinkEvents) {
    this.#to = to;
    this.#events = events;
  }

  obey(fate: Fate, delayMs: number): void {
    this.#fate = fate;
    this.#delayMs = delayMs;
    if (fate !== 'pass') return;
    for (const chunk of this.#held.splice(0)) this.carry(chunk);
  }

  carry(chunk: Buffer): void {
    if (this.#fate === 'drop') this.#dead = true;
    if (this.#dead) return this.#events.onLoss(chunk);
    if (this.#fate === 'hold') return void this.#held.push(chunk);
    const nowMs = performance.now();
    this.#clearMs = Math.max(this.#clearMs, nowMs + this.#delayMs);
    // On a busy machine the timer of an earlier chunk may be overdue. TCP never changes the order of bytes.
    if (this.#clearMs <= nowMs && this.#delayed.length === 0) return void this.#to.write(chunk);
    this.#delayed.push(chunk);
    // Timers may fire out of turn; the chunks leave in theirs.
    // oxlint-disable-next-line no-restricted-globals -- the way of bytes through a real network
    setTimeout(() => this.#to.destroyed || this.#to.write(this.#delayed.shift()!), this.#clearMs - nowMs);
  }
}
