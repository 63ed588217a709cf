import { statSync } from 'node:fs';

const ROOT = 0;

/**
 * Checks that a file of the store belongs to the user of this process. Another user could otherwise put a file there, and
 * decide for this process, even if this process is root.
 *
 * @throws {Error} If it does not.
 */
export function checkOwner(path: string, uid: number): void {
  if (isOwn(uid)) return;
  throw new Error(
    `${path} belongs to user ${uid}, and this process runs as user ${ownUid()}. Run all processes as one user. If ` +
      "nobody needs the file, delete it, and choose a folder that other users can't write to",
  );
}

/** Whether a file belongs to the user of this process. */
export function isOwn(uid: number): boolean {
  return uid === (ownUid() ?? uid);
}

/**
 * Checks that the folder belongs to the user of this process or to root: its owner could replace all files in it.
 *
 * @throws {Error} If it does not, or can't be read.
 */
export function checkFolder(path: string): void {
  const { uid } = statSync(path);
  if (isOwn(uid) || uid === ROOT) return;
  throw new Error(
    `the folder ${path} belongs to user ${uid}, and this process runs as user ${ownUid()}. Choose a folder for the socket that ` +
      'belongs to this user or to root',
  );
}

/** There are no users on some systems. */
function ownUid(): number | undefined {
  return process.getuid?.();
}
