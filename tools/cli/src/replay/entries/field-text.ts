const BACKSLASH = 92;

/** Returns the text of a value in a log line. Escapes of JSON are resolved; bytes are UTF-8. */
export function fieldText(bytes: Buffer, start: number, end: number): string {
  let isPlain = true;
  let hasEscape = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte >= 128) isPlain = false;
    else if (byte === BACKSLASH) hasEscape = true;
  }
  const text = isPlain ? bytes.toString('latin1', start, end) : bytes.toString('utf8', start, end);
  return hasEscape ? unescaped(text) : text;
}

/** Undoes the escapes of JSON, nginx and Apache, such as `\x22`. */
function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return text.replace(/\\x([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  }
}

const SHOWN = 160;

/** Returns the beginning of a line for a message: at most 160 characters, without control characters. */
export function shownLine(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, Math.min(end, start + 4 * SHOWN));
  const escaped = escapedRest(
    JSON.stringify(text)
      .slice(1, -1)
      .replaceAll(String.raw`\"`, '"'),
  );
  if (escaped.length <= SHOWN && end - start <= 4 * SHOWN) return escaped;
  // Not in the middle of an escape.
  return `${escaped.slice(0, SHOWN).replace(/\\(?:u[0-9a-f]{0,3})?$/, '')} …`;
}

/** What JSON leaves as it is, and a terminal does not: C1 controls, and marks that change the direction of text. */
function escapedRest(text: string): string {
  return text.replace(
    /[\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
