import { SluiceError } from '../checks/errors.ts';

/** What is used of a request of Node. Requests of some serverless adapters and tests lack it. */
interface ReceivedFields {
  readonly rawHeaders?: readonly string[];
  readonly httpVersionMajor?: number;
  readonly socket?: object | null | undefined;
}

/** How many names and values Node keeps where `server.maxHeadersCount` is not set. */
const KEPT_BY_DEFAULT = 2000;

/**
 * Whether a request of Node may lack header fields that were sent: Node 20 keeps 1,000 lines, or
 * `server.maxHeadersCount`, and drops all further ones without an error. A proxy in front writes its own fields at
 * the end, so that a client pushes them out with many of its own. Later versions of Node answer 431 to more lines.
 *
 * Not so with HTTP/2, where a request with more than `maxHeaderListPairs` fields is rejected as a whole.
 */
export function mayLackFields({ rawHeaders, httpVersionMajor, socket }: ReceivedFields): boolean {
  if (rawHeaders === undefined || httpVersionMajor === 2) return false;
  const { server }: { readonly server?: KeepingServer } = socket ?? {};
  const kept = keptBy(server);
  return kept > 0 && rawHeaders.length >= kept;
}

interface KeepingServer {
  readonly maxHeadersCount?: unknown;
}

/** How many names and values a server keeps; not above 0 when it keeps all. */
function keptBy(server: KeepingServer | undefined): number {
  const lines = server?.maxHeadersCount;
  // As Node computes it.
  return typeof lines === 'number' ? lines << 1 : KEPT_BY_DEFAULT;
}

/** Returns the error for a request that may lack fields, where proxies are trusted. */
export function tooManyFields(): SluiceError {
  return new SluiceError(
    'ERR_TOO_MANY_FIELDS',
    'The request has as many header lines as the server keeps, so that those of the trusted proxy may be missing. Let the proxy limit the lines of its clients, or raise `server.maxHeadersCount`.',
    { status: 431 },
  );
}
