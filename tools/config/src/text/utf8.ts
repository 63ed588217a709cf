import { isUtf8 } from 'node:buffer';
import { positionAt, type Position } from '../nodes/position.ts';
import type { Problems } from '../nodes/problems.ts';

/** The maximum length of a value in UTF-16 code units: longer than any real name, id or comment. */
export const MAX_VALUE_LENGTH = 65_536;

/** Whether bytes are valid UTF-8. If not, adds a problem. */
export function checkUtf8(bytes: Uint8Array, problems: Problems): boolean {
  if (isUtf8(bytes)) return true;
  problems.addUnreadable(firstFault(bytes), 'The text is not valid UTF-8 here. Save the file as UTF-8.');
  return false;
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
