import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(`${root}docs/architecture.md`, 'utf8');

test.each(['core', 'redis', 'config', 'serve', 'cli'])(
  'the architecture page lists every room of %s, and no other',
  (name) => {
    const folder = `packages/${name}/src`;
    const rooms = readdirSync(root + folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(roomsBelow(`In [${folder}]`)).toEqual(rooms.map((room) => room.name).toSorted());
  },
);

/** The first column of the table that follows a text. */
function roomsBelow(text: string): string[] {
  const [table = ''] = page.slice(page.indexOf(text)).split('\n\n').slice(1);
  return [...table.matchAll(/^\| `([\w-]+)`/gm)].map(([, room]) => room!).toSorted();
}
