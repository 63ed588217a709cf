import { isUtf8 } from 'node:buffer';
import { placeAt, type Place } from '../place.ts';
import type { Findings } from '../findings.ts';

/**
 * Decodes UTF-8 and removes a byte order mark. Returns `undefined`, with a finding, if the bytes are not valid UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array, findings: Findings): string | undefined {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  findings.addUnreadable(firstFault(bytes), 'The text is not valid UTF-8 here. Save the file as UTF-8.');
  return undefined;
}

function firstFault(bytes: Uint8Array): Place {
  let start = 0;
  for (let line = 1; ; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    const content = bytes.subarray(start, end);
    if (!isUtf8(content)) return placeAt(line, new TextDecoder().decode(content).indexOf('\uFFFD') + 1);
    start = end + 1;
  }
}
