import { shownText } from '@sluice/core/kit';

const MAX_ID_LENGTH = 300;

/** Returns an id on one line, with characters that are invisible or reorder others as their code points. */
export function shownId(id: string): string {
  return shownText(id, MAX_ID_LENGTH);
}
