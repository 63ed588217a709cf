/** What a server passes with a request, as far as it shows the end of a connection that was upgraded. */
interface Given {
  /** `@hono/node-server` passes the request of Node. */
  readonly incoming?: { readonly socket?: Socket | null | undefined } | undefined;
  /** `@hono/node-server` passes the response of Node, which an upgrade does not have. */
  readonly outgoing?: object | undefined;
  /** A server of Bun has it. */
  readonly requestIP?: (request: Request) => object | null;
  /** `hono/bun` takes the server here, too. */
  readonly server?: Given;
}

/** What is used of a socket of Node. */
export interface Socket {
  readonly destroyed: boolean;
  /** Tests of applications pass sockets that have only an address. */
  on?(event: 'error', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Listens for errors of the socket of an upgrade in Node. Its server may do so only from the handshake on: a client that resets
 * its connection before would end the process.
 *
 * @param given - What the server has passed with the request.
 */
export function listenForErrors(given: unknown): void {
  if (isObject(given)) socketOf(given)?.on?.('error', ignore);
}

function socketOf({ incoming, outgoing }: Given): Socket | undefined {
  return isObject(incoming) && outgoing === undefined ? (incoming.socket ?? undefined) : undefined;
}

/**
 * The connection of a request that may be upgraded, to a WebSocket. It outlives the response, and its slots are in use until
 * it is closed. Runtimes tell that in different ways:
 *
 * - Node: an upgrade comes with its socket, and without a response.
 * - Bun: the `signal` of the request is aborted then. From the upgrade on, the server does not know the address any more.
 * - Deno, Workers and others: not at all.
 */
export class UpgradedConnection {
  readonly #request: Request;
  readonly #given: readonly Given[];
  readonly #isAsked: boolean;

  /** @param given - What the server has passed with the request. */
  constructor(request: Request, given: readonly unknown[]) {
    this.#request = request;
    // Read before the handler runs: in Deno, a request that was upgraded has no header fields any more.
    this.#isAsked = request.headers.get('upgrade')?.toLowerCase() === 'websocket';
    this.#given = given.filter(isObject).flatMap((each) => (isObject(each.server) ? [each, each.server] : [each]));
  }

  /** The socket of an upgrade in Node. Whatever the response, it ends with the socket. */
  get socket(): Socket | undefined {
    return this.#given.map(socketOf).find((socket) => socket !== undefined);
  }

  /** Whether the end of the connection can't be observed, if the request is upgraded. */
  get closesUnseen(): boolean {
    if (!this.#isAsked) return false;
    return !this.#given.some(({ incoming, requestIP }) => isObject(incoming) || typeof requestIP === 'function');
  }

  /**
   * Whether the request was upgraded, so that the response is not its end.
   *
   * @param response - The response of its handler; `undefined` for an upgrade in Bun.
   */
  isUpgraded(response: Response | undefined): boolean {
    if (response === undefined || this.socket !== undefined) return true;
    if (!this.#isAsked || response.body !== null || this.#request.signal.aborted) return false;
    return this.#given.some((each) => each.requestIP?.(this.#request) === null);
  }
}

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null;
}

function ignore(): void {}
