import { domainToASCII } from 'node:url';
import { checkBoolean, complaint } from '@sluice/core/kit';

/** Which names are domain names. */
export interface DomainNameOptions {
  /** Accept underscores too, as in `_dmarc.example.com`. Default: false. */
  readonly underscores?: boolean;
}

/** Whether underscores are accepted. `where` is how a message calls the options. */
export function checkedUnderscores(where: string, { underscores = false }: DomainNameOptions): boolean {
  checkBoolean(`${where}.underscores`, underscores);
  return underscores;
}

/** How long a text may be before it is looked at: Unicode in decomposed spelling is longer than its A-labels. */
export const MAX_TEXT_LENGTH = 1024;
const MAX_LENGTH = 253;

const ASCII = /^[A-Za-z0-9._-]*$/;
const ASCII_AND_UNICODE = /^[A-Za-z0-9._\-\u0080-\uffff]*$/;
const ENDS_IN_NUMBER = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;
const HOST_NAME = namesOf('a-z0-9');
const HOST_NAME_OR_UNDERSCORES = namesOf('a-z0-9_');

function namesOf(characters: string): RegExp {
  const label = `[${characters}](?:[${characters}-]{0,61}[${characters}])?`;
  return new RegExp(`^(?:${label}\\.)*${label}$`);
}

/**
 * Gives the one spelling of a domain name: lower-case A-labels (RFC 5890 section 2.3.2.1) without a dot at the end.
 * Labels are 1 to 63 letters, digits and inner hyphens, all of them at most 253 characters (RFC 1035 section 2.3.4);
 * the last one is no number, since that is an address (URL Standard, "ends in a number").
 *
 * @param option - How a message calls the place of the text.
 * @throws {SluiceError} `ERR_ID` when the text is no domain name.
 */
export function domainName(text: string, underscores: boolean, option = 'id'): string {
  const name = withoutFinalDot(asciiOf(text));
  const pattern = underscores ? HOST_NAME_OR_UNDERSCORES : HOST_NAME;
  if (name.length <= MAX_LENGTH && pattern.test(name) && !ENDS_IN_NUMBER.test(name)) return name;
  const demand = 'a domain name of at most 253 characters: labels of 1 to 63 letters, digits and inner hyphens';
  throw complaint('ERR_ID', { option, demand, value: text, status: 400, ...remedyFor(text, name) });
}

/** The name in lower case and ASCII; `''` when it can't be written so. */
function asciiOf(text: string): string {
  if (text.length > MAX_TEXT_LENGTH) return '';
  // A name of ASCII is itself, whichever version of Unicode this Node has: two gateways then never give it two ids.
  if (ASCII.test(text)) return text.toLowerCase();
  // It decodes `%2e`, drops tabs, and ends at a slash: it never sees them.
  return ASCII_AND_UNICODE.test(text) ? domainToASCII(text) : '';
}

function withoutFinalDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

function remedyFor(text: string, name: string): { remedy?: string } {
  if (text.includes('*')) return { remedy: "A wildcard is not a name. Write 'example.com' for '*.example.com'." };
  if (/[/:@?#[\]]/.test(text))
    return { remedy: "Write only the name, without scheme, port, path or address: 'example.com'." };
  if (name.includes('_')) return { remedy: 'To accept underscores, use underscores: true.' };
  if (ENDS_IN_NUMBER.test(name)) return { remedy: 'It ends in a number. For addresses, use ipAddress().' };
  return {};
}
