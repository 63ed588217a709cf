import { IpAddress } from '@sluice/core';
import { withoutEnd } from './bytes.ts';

/** A host in one spelling. */
export interface CanonicalHost {
  /** In lower case, with A-labels (IDNA), without brackets and without a dot at the end. */
  readonly host: string;
  /** With its `:`; empty if there is none. */
  readonly port: string;
}

const AUTHORITY = /^(?:[^@]*@)?(\[[^\]]*\]|[^:[\]]*)(:\d*)?$/;
/** A name that no URL parser would change, unless it ends with a number: then it is an address. */
const PLAIN = /^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$/;
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;
/** The most characters of a host. A name has 253, and more before its conversion to A-labels. */
export const MAX_HOST = 1024;

/**
 * Returns the one spelling of the host in a field such as `Host`; undefined if there is none, or one that is longer than
 * {@link MAX_HOST}. The port is not a part of it: a client may send any.
 */
export function canonicalHost(text: string): CanonicalHost | undefined {
  if (text.length > MAX_HOST) return undefined;
  const [, given = '', port = ''] = AUTHORITY.exec(text.trim()) ?? [];
  const name = withoutDots(given.toLowerCase());
  const isPlain = PLAIN.test(name) && !NUMBER.test(name.slice(name.lastIndexOf('.') + 1));
  const host = isPlain ? name : parsedHost(name);
  return host === undefined || host === '' ? undefined : { host, port: port === ':' ? '' : port };
}

/** Names with other letters, and addresses in all their forms, as a browser reads them. */
function parsedHost(name: string): string | undefined {
  if (name === '' || /[/\\?#@\s]/.test(name) || !URL.canParse(`http://${name}`)) return undefined;
  const host = withoutDots(new URL(`http://${name}`).hostname).replace(/^\[(.*)\]$/, '$1');
  return IpAddress.parse(host)?.text ?? host;
}

function withoutDots(name: string): string {
  return withoutEnd(name, '.');
}
