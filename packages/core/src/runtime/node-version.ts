/** The first minor version of each line of Node that ends the sessions of HTTP/2 whose clients have made an error. */
const FIXED_IN: Readonly<Record<number, number>> = { 22: 23, 24: 17, 26: 1 };
const LAST_LINE = 26;

let leavesOpen: boolean | undefined;

/** Whether this runtime leaves sessions of HTTP/2 open after most errors of their clients. */
export function leavesSessionsOpen(): boolean {
  // Only asked for a request of HTTP/2: the Edge runtime of Next.js warns of everything that is read of `process`.
  return (leavesOpen ??= leavesOpenIn(process.versions.node));
}

/** @param version - Of Node, or of the Node that another runtime is like. */
export function leavesOpenIn(version: string): boolean {
  const [line, minor] = version.split('.').map(Number);
  return line! <= LAST_LINE && minor! < (FIXED_IN[line!] ?? Infinity);
}
