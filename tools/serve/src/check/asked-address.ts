import { SluiceError, type IpAddress } from '@sluice/core';
import { clientAddressFinder, type ClientAddressFinder } from '@sluice/core/http';
import { MisconfiguredProxy } from './misconfigured-proxy.ts';

/** The field in which proxies pass the address of the client if nothing else is said. */
const USUAL_HEADER = 'x-forwarded-for';

/** The options of {@link askedAddressFinder}. */
export interface AskedAddressOptions {
  readonly trustedProxies: readonly string[];
  /** Default: `x-forwarded-for`. */
  readonly addressHeader: string | undefined;
  /** Called if the field of a proxy has no address. */
  readonly emit: (message: string) => void;
}

/**
 * Returns the function that finds the address of the client of a request about which a proxy asks. All clients of a proxy
 * that does not say who they are would share its own bucket: that is an error, never an address.
 *
 * The returned function throws {@link MisconfiguredProxy} if the field is missing, and a {@link SluiceError} `ERR_ID` if it
 * has no address.
 *
 * @throws {SluiceError} `ERR_OPTION` or `ERR_CIDR` for wrong options.
 */
export function askedAddressFinder({ trustedProxies, addressHeader, emit }: AskedAddressOptions): ClientAddressFinder {
  const find = clientAddressFinder({
    trustedProxies,
    ...(addressHeader !== undefined && { addressHeader }),
    warn: () => undefined,
  });
  const name = (addressHeader ?? USUAL_HEADER).toLowerCase();
  return (request) => {
    if (request.header(name) === undefined) throw new MisconfiguredProxy(missingField(name));
    const address = addressIn(request, find);
    if (address !== undefined) return address;
    const message = `A proxy sends a field ${name} that has no address of a client. The request is denied. Let the proxy replace what the client wrote, ${example(name)}`;
    emit(message);
    throw new SluiceError('ERR_ID', message);
  };
}

/** Returns the address that a field has; undefined for that of the proxy itself. */
function addressIn(request: Parameters<ClientAddressFinder>[0], find: ClientAddressFinder): IpAddress | undefined {
  const { peer } = request;
  try {
    const address = find({ peer, header: (name) => request.header(name) });
    return address === peer ? undefined : address;
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'ERR_NO_CLIENT_ADDRESS') return undefined;
    throw error;
  }
}

function missingField(name: string): string {
  return `A table has id: address, but the proxy sends no ${shownField(name)}. Let it send one, ${example(name)}`;
}

/** As it is usually written. */
function shownField(name: string): string {
  return name === USUAL_HEADER ? 'X-Forwarded-For' : name;
}

function example(name: string): string {
  const value = name === 'forwarded' ? '"for=$remote_addr"' : '$remote_addr';
  return `e.g. in nginx: proxy_set_header ${shownField(name)} ${value};`;
}
