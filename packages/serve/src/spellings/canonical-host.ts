import { IpAddress } from '@sluice/core';

/** A host in one spelling. */
export interface CanonicalHost {
  /** In lower case, with A-labels (IDNA), without brackets and without a dot at the end. */
  readonly host: string;
  /** With its `:`; empty if there is none. */
  readonly port: string;
}

const AUTHORITY = /^(?:[^@]*@)?(\[[^\]]*\]|[^:[\]]*)(:\d*)?$/;
/** A name that no URL parser would change. One that ends with a number is an address to it. */
const PLAIN = /^(?:[a-z0-9_-]+\.)*[a-z0-9_-]*[a-z_-][a-z0-9_-]*$/;

/**
 * Returns the one spelling of the host in a field such as `Host`; undefined if there is none. The port is not a part of it:
 * a client may send any.
 */
export function canonicalHost(text: string): CanonicalHost | undefined {
  const [, given = '', port = ''] = AUTHORITY.exec(text.trim()) ?? [];
  const name = withoutDots(given.toLowerCase());
  const host =
    PLAIN.test(name) && !/^0x[0-9a-f]*$/.test(name.slice(name.lastIndexOf('.') + 1)) ? name : parsedHost(name);
  return host === undefined || host === '' ? undefined : { host, port: port === ':' ? '' : port };
}

/** Names with other letters, and addresses in all their forms, as a browser reads them. */
function parsedHost(name: string): string | undefined {
  if (name === '' || /[/\\?#@\s]/.test(name) || !URL.canParse(`http://${name}`)) return undefined;
  const host = withoutDots(new URL(`http://${name}`).hostname).replace(/^\[(.*)\]$/, '$1');
  return IpAddress.parse(host)?.text ?? host;
}

function withoutDots(name: string): string {
  return name.replace(/\.+$/, '');
}
