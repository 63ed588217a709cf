// `npm run check -- architecture`: prints which room imports which, and fails on a circle of files or of rooms.
import { cruise } from 'dependency-cruiser';
import { packageFolders } from './package-folders.mjs';
import { root } from './pnpm.mjs';

/** @typedef {Map<string, Set<string>>} Graph what each room or file imports */

process.chdir(root);
process.exitCode = await main();

/** @returns {Promise<number>} the exit code */
async function main() {
  const files = await importsOfFiles();
  const rooms = roomsOf(files);
  console.log(drawn(layered(rooms), rooms));
  const circles = [...circlesIn(files), ...circlesIn(rooms)];
  for (const circle of circles) console.log(`circle: ${circle.join(' → ')}`);
  return circles.length === 0 ? 0 : 1;
}

/** @returns {Promise<Graph>} */
async function importsOfFiles() {
  // An import of a type is an arrow, too: it leads a reader as any other does.
  const options = { includeOnly: '^(packages|tools)/[^/]+/src', tsPreCompilationDeps: true };
  const conditions = ['@sluice/source', 'import', 'node', 'default'];
  const folders = packageFolders(root);
  const { output } = await cruise(folders, options, { conditionNames: conditions, exportsFields: ['exports'] });
  if (typeof output === 'string') throw new Error(output);
  return new Map(
    output.modules.map(({ source, dependencies }) => [source, new Set(dependencies.map(({ resolved }) => resolved))]),
  );
}

/**
 * @param {Graph} files
 * @returns {Graph}
 */
function roomsOf(files) {
  /** @type {Graph} */
  const rooms = new Map();
  for (const [file, imports] of files) {
    const room = roomOf(file);
    const others = rooms.get(room) ?? new Set();
    for (const imported of imports) if (roomOf(imported) !== room) others.add(roomOf(imported));
    rooms.set(room, others);
  }
  return rooms;
}

/**
 * A room is a folder below src with all that is in it; the files beside the rooms are the package's entries.
 *
 * @param {string} file
 */
function roomOf(file) {
  const [, name = file, , ...path] = file.split('/');
  return path.length > 1 ? `${name}/${path[0]}` : name;
}

/**
 * The rooms in an order in which each imports only those below it, as far as there is one.
 *
 * @param {Graph} rooms
 */
function layered(rooms) {
  /** @type {string[]} */
  const order = [];
  const visit = (/** @type {string} */ room, /** @type {string[]} */ path) => {
    if (order.includes(room) || path.includes(room)) return;
    for (const imported of [...(rooms.get(room) ?? [])].toSorted()) visit(imported, [...path, room]);
    order.unshift(room);
  };
  for (const room of [...rooms.keys()].toSorted()) visit(room, []);
  return order;
}

/**
 * @param {string[]} order
 * @param {Graph} rooms
 */
function drawn(order, rooms) {
  const width = Math.max(...order.map((room) => room.length));
  const lines = order.map((room) => {
    const imports = order.filter((other) => rooms.get(room)?.has(other));
    return `${room.padEnd(width)}${imports.length === 0 ? '' : ` → ${imports.join(' ')}`}`;
  });
  const arrows = order.reduce((sum, room) => sum + (rooms.get(room)?.size ?? 0), 0);
  return [...lines, `${order.length} rooms, ${arrows} arrows; each room imports only rooms below it`].join('\n');
}

/**
 * The first circle that each node lies on, each circle once.
 *
 * @param {Graph} graph
 */
function circlesIn(graph) {
  /** @type {string[][]} */
  const circles = [];
  const done = new Set();
  const visit = (/** @type {string} */ node, /** @type {string[]} */ path) => {
    const start = path.indexOf(node);
    if (start >= 0) circles.push([...path.slice(start), node]);
    if (start >= 0 || done.has(node)) return;
    for (const imported of graph.get(node) ?? []) visit(imported, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return circles;
}
