import { domainToASCII } from 'node:url';
import { checkBoolean, complaint } from '@sluice/core/kit';

/** The options for domain names. */
export interface DomainNameOptions {
  /** Whether underscores are accepted, as in `_dmarc.example.com`. Default: false. */
  readonly underscores?: boolean | undefined;
}

/** Validates and returns the option `underscores`. `where` is the name of the function in messages. */
export function checkedUnderscores(where: string, { underscores = false }: DomainNameOptions): boolean {
  checkBoolean(`${where}.underscores`, underscores);
  return underscores;
}

/** The maximum length of a text before its conversion: decomposed Unicode may be longer than its A-labels. */
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
 * Returns the canonical form of a domain name: lower-case A-labels (RFC 5890 section 2.3.2.1) without a final dot. A
 * label has 1 to 63 letters, digits and inner hyphens, and the name at most 253 characters (RFC 1035 section 2.3.4).
 * The last label must not be a number, because the name would then be an IPv4 address (URL Standard, "ends in a
 * number").
 *
 * @param option - The name of the value in messages.
 * @throws {SluiceError} `ERR_ID` if the text is not a domain name.
 */
export function domainName(text: string, underscores: boolean, option = 'id'): string {
  const name = withoutFinalDot(asciiOf(text));
  const pattern = underscores ? HOST_NAME_OR_UNDERSCORES : HOST_NAME;
  if (name.length <= MAX_LENGTH && pattern.test(name) && !ENDS_IN_NUMBER.test(name)) return name;
  const demand = 'a domain name of at most 253 characters: labels of 1 to 63 letters, digits and inner hyphens';
  throw complaint('ERR_ID', { option, demand, value: text, remedy: remedyFor(text, name), status: 400 });
}

/** Returns the name in lower-case ASCII; `''` if that is not possible. */
function asciiOf(text: string): string {
  if (text.length > MAX_TEXT_LENGTH) return '';
  // ASCII names are not converted, so that their ids do not depend on the Unicode version of this Node.js.
  if (ASCII.test(text)) return text.toLowerCase();
  // domainToASCII would decode `%2e`, drop tabs and stop at a slash. The pattern rejects such characters first.
  return ASCII_AND_UNICODE.test(text) ? domainToASCII(text) : '';
}

function withoutFinalDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

function remedyFor(text: string, name: string): string {
  if (text === '') return "It is empty: write a name such as 'example.com', or leave it out.";
  if (text.includes('*')) return "A wildcard is not a name. Write 'example.com' for '*.example.com'.";
  if (/[/:@?#[\]]/.test(text)) return "Write only the name, without scheme, port, path or address: 'example.com'.";
  if (/[\s;]/.test(text)) return "Write the name alone, without spaces or semicolons: 'example.com'.";
  if (name.includes('_')) return 'To accept underscores, use underscores: true.';
  if (ENDS_IN_NUMBER.test(name)) return 'It ends in a number. For addresses, use ipAddress().';
  return "Write a name such as 'example.com'.";
}
