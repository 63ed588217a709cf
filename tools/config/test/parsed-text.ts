import { Problems } from '../src/nodes/problems.ts';
import { shownPosition } from '../src/nodes/position.ts';
import { parse, type ParseMessage, type SourcePart } from '../src/sources/parse.ts';

/** Parses a text. Returns its ids with their positions, its problems, and the messages. */
export function parsed(text: string, part: SourcePart = 'overrides') {
  const messages: ParseMessage[] = [];
  parse({ part, bytes: new TextEncoder().encode(text) }, (message) => messages.push(message));
  const problems = new Problems();
  const ids: string[] = [];
  for (const message of messages) {
    if ('end' in message) problems.addAll(message.end);
    else
      for (const row of message.rows)
        if ('ids' in row) ids.push(...row.ids.map((id, i) => `${id} ${shownPosition(row.places[i] ?? 'nowhere')}`));
  }
  return { ids, problems: problems.list.map(({ at, message }) => `${shownPosition(at)} ${message}`), messages };
}

export const override = (ids: string): string => `- A:\n    unlimited: true\n    ids:\n${ids}`;

export const list = (count: number): string => Array.from({ length: count }, (_, i) => `      - ${i}\n`).join('');
