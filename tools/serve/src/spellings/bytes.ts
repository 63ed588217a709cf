import { Buffer, isUtf8 } from 'node:buffer';

// Paths are compared byte by byte, as texts whose characters are bytes (latin1): what a client sends need not be UTF-8.

const NOT_ASCII = /[^\0-\x7f]/;

/** Returns the bytes of a text in UTF-8. */
export function bytesOf(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** Returns the text of bytes in UTF-8; undefined if they are not UTF-8. */
export function textOf(bytes: string): string | undefined {
  if (!NOT_ASCII.test(bytes)) return bytes;
  const buffer = Buffer.from(bytes, 'latin1');
  return isUtf8(buffer) ? buffer.toString('utf8') : undefined;
}

/** Returns the text of bytes in UTF-8, with U+FFFD for what is not UTF-8. */
export function replacedText(bytes: string): string {
  return NOT_ASCII.test(bytes) ? Buffer.from(bytes, 'latin1').toString('utf8') : bytes;
}

/** Returns bytes without the difference between upper and lower case, in all alphabets. */
export function withoutCase(bytes: string): string {
  if (!NOT_ASCII.test(bytes)) return bytes.toLowerCase();
  // Some characters have the same upper case only, such as K and the sign for kelvin.
  return bytesOf(replacedText(bytes).toUpperCase().toLowerCase());
}

/** Returns a text without any of these characters at its end. An expression such as `/x+$/` would take quadratic time. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}
