import { complaint, type SluiceError } from '../checks/errors.ts';
import { checkBoolean, checkOptions } from '../checks/options.ts';
import type { IdFormat } from './id-format.ts';

const MAX_LENGTH = 256;
const CONTROL_CHARACTER = /\p{Cc}/u;
const UNSIGNED_DECIMAL = /^(?:0|[1-9][0-9]{0,255})$/;

/**
 * The id format `accountId`: 1 to 256 UTF-16 code units of well-formed Unicode without control characters, unchanged.
 * Ids are not normalized, because two accounts could then become one.
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` or `ERR_OPTION` for wrong options.
 */
export function accountIdFormat(options: { readonly decimal?: boolean | undefined } = {}): IdFormat {
  checkOptions('accountId', options, ['decimal']);
  checkBoolean('accountId.decimal', options.decimal);
  return textFormat('accountId', options.decimal);
}

/** An id format for texts as those of {@link accountIdFormat}, with a name of its own. */
export function textFormat(name: string, decimal = false): IdFormat {
  return {
    name,
    canonical(text: string): string {
      if (decimal ? UNSIGNED_DECIMAL.test(text) : isAccountId(text)) return text;
      throw notAnAccountId(text, decimal);
    },
  };
}

function notAnAccountId(value: string, decimal: boolean): SluiceError {
  const demand = decimal
    ? 'an unsigned decimal number of at most 256 digits, without leading zeros'
    : `1 to ${MAX_LENGTH} characters of well-formed Unicode without control characters`;
  const remedy =
    value === ''
      ? 'For a request without an id, return null in the function of the key.'
      : 'If this id is valid for you, shorten or encode it in the function of the key.';
  return complaint('ERR_ID', { option: 'id', demand, value, remedy, status: 400 });
}

function isAccountId(text: string): boolean {
  if (text.length === 0 || text.length > MAX_LENGTH) return false;
  return isPrintableAscii(text) || (text.isWellFormed() && !CONTROL_CHARACTER.test(text));
}

// Nearly all ids are printable ASCII. For so few characters, a loop is faster than a regular expression.
function isPrintableAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}
