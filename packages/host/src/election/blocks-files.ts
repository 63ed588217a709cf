import type { BlocksText } from '@sluice/core/store';
import { SluiceError } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';
import { constants, linkSync, mkdtempSync, readdirSync, unlinkSync } from 'node:fs';
import { open, writeFile, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { remove } from './files.ts';
import { checkFolder, checkOwner } from './owner.ts';

/** What follows the path of the socket, before a number. */
const SUFFIX = '.blocks.';
const REVISION_BYTES = 16;
/** More than the largest list. */
const MAX_BYTES = 67_108_864;
/** So often the newest file is looked for, because another process has deleted it meanwhile. */
const MOST_TRIES = 10;

/**
 * The text with all blocks of a store, in files beside the sockets: `<socket>.blocks.1`, `.2` and so on, of which the one with the
 * highest number counts. All processes read it themselves, so the process that serves need not know of blocks, and they outlive
 * it.
 *
 * The numbers are why a change replaces only what its process has read, as those of the sockets are (`SocketFiles`): of several
 * processes one succeeds in creating the next name, and nobody deletes the highest number. A process that was late, and has
 * created a number that was used before, finds a higher one, and has not written.
 */
export class BlocksFiles implements BlocksText {
  readonly #path: string;
  readonly #folder: string;
  readonly #prefix: string;

  constructor(socket: string) {
    this.#path = socket + SUFFIX;
    this.#folder = dirname(socket);
    this.#prefix = basename(this.#path);
  }

  read(revision: string): Promise<string | undefined> {
    return this.#checked(async () => (await this.#newestText(revision)).text);
  }

  write(revision: string, text: string): Promise<boolean> {
    return this.#checked(async () => {
      const newest = await this.#newestText(revision);
      if (newest.text !== undefined && newest.text.slice(0, REVISION_BYTES) !== revision) return false;
      return this.#publish(newest.number + 1, text);
    });
  }

  /** @returns The text is undefined if it begins with the revision. */
  async #newestText(revision: string): Promise<{ readonly number: number; readonly text: string | undefined }> {
    checkFolder(this.#folder);
    for (let tries = 1; ; tries++) {
      const number = this.#newest();
      if (number === 0) return { number, text: '' };
      try {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        return { number, text: await readFile(this.#path + number, revision) };
      } catch (error) {
        if (codeOf(error) !== 'ENOENT' || tries === MOST_TRIES) throw error;
      }
    }
  }

  async #publish(number: number, text: string): Promise<boolean> {
    const path = this.#path + number;
    // Only this user can enter the folder. It is deleted as those of sockets are, if the process ends meanwhile.
    const folder = mkdtempSync(this.#path.replace(/blocks\.$/, 'new-'));
    try {
      await writeFile(join(folder, 'b'), text, { flag: 'wx', mode: 0o600 });
      linkSync(join(folder, 'b'), path);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      remove(folder);
    }
    const isNewest = this.#newest() === number;
    if (isNewest) for (const older of this.#numbers()) if (older < number) deleteFile(this.#path + older);
    if (!isNewest) deleteFile(path);
    return isNewest;
  }

  #newest(): number {
    return Math.max(0, ...this.#numbers());
  }

  #numbers(): readonly number[] {
    return readdirSync(this.#folder)
      .filter((name) => name.startsWith(this.#prefix))
      .map((name) => name.slice(this.#prefix.length))
      .filter((number) => /^[1-9]\d{0,14}$/.test(number))
      .map(Number);
  }

  async #checked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const what = `The blocks in ${this.#path}* can't be used: ${messageOf(cause)}.`;
      throw new SluiceError(codeOf(cause) === undefined ? 'ERR_STORE_ANSWER' : 'ERR_STORE_UNAVAILABLE', what, {
        cause,
      });
    }
  }
}

/** Returns undefined if the text begins with the revision. */
async function readFile(path: string, revision: string): Promise<string | undefined> {
  // As of the hand-over file: others can put something there.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    checkOwner(path, stats.uid);
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    if (stats.size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
    if (revision !== '' && (await beginning(file)) === revision) return undefined;
    return String(await file.readFile());
  } finally {
    await file.close();
  }
}

async function beginning(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(REVISION_BYTES), 0, REVISION_BYTES, 0);
  return buffer.toString('latin1', 0, bytesRead);
}

// A file that can't be deleted does not count: there is one with a higher number.
function deleteFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Another process has deleted it.
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
