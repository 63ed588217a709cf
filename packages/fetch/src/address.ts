import { IpAddress, SluiceError } from '@sluice/core';
import { complaint, isInstance, shown } from '@sluice/core/kit';

/**
 * The address of the client of a request, or of the proxy that sent it, as text; `'unix'` for a peer on a unix socket;
 * `null` or `undefined` if it is not known: limits by address then reject the request.
 */
export type Address = string | null | undefined;

/** For messages: how servers know the address. */
export const ADDRESS_EXAMPLE =
  "on Cloudflare address: (request) => request.headers.get('cf-connecting-ip'), in Bun address: (request, server) => server.requestIP(request)?.address";

/**
 * Validates the option `address`.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkAddress(address: unknown, caller: string, example: string): void {
  if (typeof address === 'function') return;
  throw complaint('ERR_OPTION', {
    option: `${caller}.address`,
    demand: "a function that returns the address of a request's client",
    value: address,
    remedy: `A Request does not contain it, and servers know it in different ways, e.g. ${example}. If no limit needs it: address: () => null.`,
  });
}

/** The address of one request. A server may forget it when the client disconnects, so it is asked for once. */
export class PeerAddress {
  readonly #find: () => Address;
  #isKnown = false;
  #peer: IpAddress | 'unix' | undefined;
  #failure: unknown;

  /** @param find - Calls the `address` function of the user. */
  constructor(find: () => Address) {
    this.#find = find;
  }

  /** `undefined` when the function fails, or returns no address. */
  get peer(): IpAddress | 'unix' | undefined {
    if (!this.#isKnown) {
      this.#isKnown = true;
      try {
        this.#peer = peerOf(this.#find());
      } catch (cause) {
        this.#failure = cause;
      }
    }
    return this.#peer;
  }

  /** Returns why there is no address, for an error that says that there is none; other errors as they are. */
  reasonFor(error: unknown): unknown {
    const isMissing = isInstance(error, SluiceError) && error.code === 'ERR_NO_CLIENT_ADDRESS';
    return isMissing && this.#failure !== undefined ? this.#failure : error;
  }
}

function peerOf(address: Address): IpAddress | 'unix' | undefined {
  if (address === 'unix') return address;
  const peer = typeof address === 'string' ? IpAddress.parse(address) : undefined;
  if (peer !== undefined) return peer;
  throw new SluiceError(
    'ERR_NO_CLIENT_ADDRESS',
    `The request has no client address: the \`address\` function returned ${shown(address)}, which is not an IP address. A limit by address needs one, such as '192.0.2.7': let it be read where this server has it. Where a request can be without one, use a key with an alternative, e.g. accountId((request) => …).or(clientNetwork()).`,
  );
}
