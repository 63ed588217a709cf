// The room election: which process serves: the files of the sockets, and how a process becomes the server or a client.
import { chmodSync, linkSync, mkdtempSync, readdirSync, type BigIntStats } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { fileAt, remove } from './files.ts';
import { HandoverFile } from './handover-file.ts';
import { checkFolder, checkOwner, isOwn } from './owner.ts';

/** What a socket is while it has no name that others look for. */
const NEW_SUFFIX = '.new-';
/** After this time, a process that has not given its socket a name has ended. */
const ABANDONED_MS = 10_000;

/** A socket that was published: its number, and its file. */
export interface Published {
  readonly server: Server;
  readonly generation: number;
  readonly inode: bigint;
}

/** Why there is no connection: its process has ended; it has no file any more; too many others connect now. */
export type NoConnection = 'ended' | 'gone' | 'busy';

/**
 * The files of the sockets of one path: `<path>.1`, `<path>.2` and so on, one for each serving process. The one with the
 * highest number serves.
 *
 * Two processes never serve at a time, whatever is interrupted when, for these reasons:
 *
 * - A process publishes number n + 1 only when the process of n has ended. The system then refuses a connection:
 *   a socket gets its name by `link`, after it has begun to listen, so one that refuses has stopped.
 * - Of several, one succeeds in creating the name, because `link` fails if the name exists.
 * - Nobody deletes the highest number, also not when its process ends. A process that was late, and has published a
 *   number that was used before, then finds a higher one, and withdraws before it has answered anybody.
 *
 * Somebody else may delete the files. So a serving process looks now and then whether its file is still the one with the
 * highest number.
 */
export class SocketFiles {
  /** The file by which one serving process hands its buckets to the next one. */
  readonly handover: HandoverFile;
  readonly #path: string;
  readonly #folder: string;
  readonly #prefix: string;

  constructor(path: string) {
    this.#path = path;
    this.#folder = dirname(path);
    this.#prefix = `${basename(path)}.`;
    this.handover = new HandoverFile(path, path + NEW_SUFFIX);
  }

  /** Returns the path of a socket. */
  pathOf(generation: number): string {
    return `${this.#path}.${generation}`;
  }

  /** Returns the highest number, 0 if there is none. */
  newest(): number {
    return Math.max(0, ...this.#generations());
  }

  /**
   * Connects to a socket.
   *
   * @throws {Error} If the file is not a socket of this user, or there is no connection for another reason.
   */
  async connect(generation: number): Promise<Socket | NoConnection> {
    checkFolder(this.#folder);
    const path = this.pathOf(generation);
    const file = fileAt(path);
    if (file === undefined) return 'gone';
    if (!file.isSocket()) throw new Error(`${path} is not a socket. Delete it, or choose another path for the socket`);
    checkOwner(path, Number(file.uid));
    return connectTo(path);
  }

  /**
   * Listens on a new socket, and gives it a number. Returns undefined if another process was faster.
   *
   * @param onConnection - Called for each connection, not before the returned promise has resolved.
   */
  async publish(generation: number, onConnection: (socket: Socket) => void): Promise<Published | undefined> {
    checkFolder(this.#folder);
    // Only this user can enter the folder, so no other user connects before the file has its permissions.
    const folder = mkdtempSync(`${this.#path}${NEW_SUFFIX}`);
    const server = createServer(onConnection);
    try {
      const path = join(folder, 's');
      await listenOn(server, path);
      chmodSync(path, 0o600);
      const inode = fileAt(path)?.ino;
      linkSync(path, this.pathOf(generation));
      if (inode !== undefined && this.newest() === generation) return { server, generation, inode };
      remove(this.pathOf(generation));
    } catch (error) {
      // ENOENT: somebody has deleted the folder, for example all that was beside it.
      if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'ENOENT') {
        server.close();
        throw error;
      }
    } finally {
      remove(folder);
    }
    server.close();
    return undefined;
  }

  /** Whether a socket still has its name, and none has a higher number. */
  isCurrent({ generation, inode }: Published): boolean {
    return fileAt(this.pathOf(generation))?.ino === inode && fileAt(this.pathOf(generation + 1)) === undefined;
  }

  /** Deletes what processes have left behind that have ended: sockets with lower numbers, and those without any. */
  removeOlder(generation: number, nowMs: number): void {
    for (const older of this.#generations()) {
      const path = this.pathOf(older);
      if (older < generation) removeIf(path, (file) => file.isSocket());
    }
    for (const name of this.#names(NEW_SUFFIX.slice(1))) {
      removeIf(join(this.#folder, name), (file) => file.isDirectory() && nowMs - Number(file.mtimeMs) > ABANDONED_MS);
    }
  }

  #generations(): readonly number[] {
    return this.#names('')
      .map((name) => name.slice(this.#prefix.length))
      .filter((number) => /^[1-9]\d{0,14}$/.test(number))
      .map(Number);
  }

  #names(start: string): readonly string[] {
    return readdirSync(this.#folder).filter((name) => name.startsWith(this.#prefix + start));
  }
}

// Nothing depends on it, so a file that can't be deleted is not an error. Another user could replace what is in a folder of
// theirs by links while it is deleted.
function removeIf(path: string, isOld: (file: BigIntStats) => boolean): void {
  try {
    const file = fileAt(path);
    if (file !== undefined && isOwn(Number(file.uid)) && isOld(file)) remove(path);
  } catch {
    // Another process has deleted it, or it stays.
  }
}

// In a worker of a cluster, Node would else let the primary process listen.
function listenOn(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject);
      // What fails later, fails for one connection: that of a client, which then connects again.
      server.on('error', () => {});
      server.unref();
      resolve();
    });
  });
}

function connectTo(path: string): Promise<Socket | NoConnection> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path });
    socket.once('error', (error) => {
      const none = NO_CONNECTION[codeOf(error) ?? ''];
      if (none === undefined) reject(error);
      else resolve(none);
    });
    // The listener stays until the next owner has one: an `error` event without any would end the process.
    socket.once('connect', () => resolve(socket));
  });
}

const NO_CONNECTION: Readonly<Record<string, NoConnection>> = {
  ECONNREFUSED: 'ended',
  ENOENT: 'gone',
  EAGAIN: 'busy',
  ECONNRESET: 'busy',
};

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
