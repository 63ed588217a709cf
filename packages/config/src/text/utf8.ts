import { isUtf8 } from 'node:buffer';
import { positionAt, type Position } from '../nodes/position.ts';
import type { Problems } from '../nodes/problems.ts';

/**
 * Decodes UTF-8 and removes a byte order mark. Returns `undefined`, with a problem, if the bytes are not valid UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array, problems: Problems): string | undefined {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  problems.addUnreadable(firstFault(bytes), 'The text is not valid UTF-8 here. Save the file as UTF-8.');
  return undefined;
}

function firstFault(bytes: Uint8Array): Position {
  let start = 0;
  for (let line = 1; ; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    const content = bytes.subarray(start, end);
    if (!isUtf8(content)) return positionAt(line, new TextDecoder().decode(content).indexOf('\uFFFD') + 1);
    start = end + 1;
  }
}
