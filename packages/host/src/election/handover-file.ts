import { constants, mkdtempSync, renameSync, unlinkSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeHello, encodeHello, HELLO_BYTES, type Hello } from '../wire/hello.ts';
import { fileAt, remove } from './files.ts';
import { checkOwner } from './owner.ts';

/** What follows the path of the socket. A socket has a number there. */
const SUFFIX = '.handover';

/** So many bytes are read and written at once. */
const BLOCK_BYTES = 262_144;

/** A whole file has at most so many bytes: more than is written in the time that a process has for it. */
const MAX_BYTES = 4_294_967_296;

/** Before each part is its length. A part of no bytes is the end. */
const LENGTH_BYTES = 4;

/** What a process hands over: its first message to clients, and its buckets in parts. */
export interface Handed {
  readonly from: Hello;
  readonly parts: Iterable<Uint8Array>;
}

/**
 * The file by which a process that is closed hands its buckets to the next one that serves, whichever that is.
 *
 * The file exists only while nobody has answered a call since it was written: the process that writes it has stopped
 * before, and the next one deletes it before its first answer. If that one ends before, the file is there for the one after
 * it. The file gets its name when it is complete.
 */
export class HandoverFile {
  readonly #path: string;
  readonly #newPrefix: string;

  /** @param newPrefix - What the path of a folder begins with in which a file is while it has no name. */
  constructor(path: string, newPrefix: string) {
    this.#path = path + SUFFIX;
    this.#newPrefix = newPrefix;
  }

  get exists(): boolean {
    return fileAt(this.#path) !== undefined;
  }

  /**
   * Writes the file, even without any part: other processes then know that nothing was lost.
   *
   * @param isWanted - Asked before each block, and before the file gets its name. If not, there is no file.
   */
  async write(handed: Handed, isWanted: () => boolean): Promise<void> {
    // Only this user can enter the folder, and read the secret of the hashes.
    const folder = mkdtempSync(this.#newPrefix);
    try {
      const path = join(folder, 'b');
      const file = await open(path, 'wx', 0o600);
      try {
        for (const block of blocksOf(handed)) {
          if (!isWanted()) return;
          // oxlint-disable-next-line no-await-in-loop -- one after the other, with turns of the event loop between them
          await file.appendFile(block);
        }
      } finally {
        await file.close();
      }
      if (isWanted()) renameSync(path, this.#path);
    } finally {
      remove(folder);
    }
  }

  /**
   * Reads the file.
   *
   * @param begin - Called first, and returns what is then called for each part.
   * @throws {Error} If it is not a complete file of this version or the one before, and of this user.
   */
  async read(begin: (from: Hello) => (part: Uint8Array) => void): Promise<void> {
    // Others can put something there: a link to a file of another user, or a named pipe, whose opening would wait.
    const file = await open(this.#path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      checkOwner(this.#path, stats.uid);
      // A second name: somebody has kept an older file, and put it back.
      if (!stats.isFile() || stats.nlink !== 1) throw new Error(`${this.#path} is not a regular file with one name`);
      const { size } = stats;
      if (size > MAX_BYTES) throw new Error(`${this.#path} has more than ${MAX_BYTES} bytes`);
      const reader = new BlockReader(file, size);
      const add = begin(decodeHello(await reader.take(HELLO_BYTES)));
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop
        const bytes = (await reader.take(LENGTH_BYTES)).readUInt32LE(0);
        if (bytes === 0) return;
        // oxlint-disable-next-line no-await-in-loop
        add(await reader.take(bytes));
      }
    } finally {
      await file.close();
    }
  }

  delete(): void {
    try {
      unlinkSync(this.#path);
    } catch {
      // There is none, or another user has put it there: then it is not read either.
    }
  }
}

function* blocksOf({ from, parts }: Handed): Generator<Buffer> {
  let block: Uint8Array[] = [encodeHello(from)];
  let bytes = 0;
  for (const part of parts) {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(part.length, 0);
    block.push(length, part);
    bytes += part.length;
    if (bytes < BLOCK_BYTES) continue;
    yield Buffer.concat(block);
    block = [];
    bytes = 0;
  }
  yield Buffer.concat([...block, Buffer.alloc(LENGTH_BYTES)]);
}

/** Reads a file from front to back. */
class BlockReader {
  readonly #file: FileHandle;
  /** How many bytes of the file were not read. */
  #left: number;
  #rest: Buffer = Buffer.alloc(0);

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.#left = size;
  }

  /** @throws {Error} If the file has fewer bytes. */
  async take(bytes: number): Promise<Buffer> {
    if (bytes > this.#rest.length + this.#left) throw new Error('is incomplete');
    while (this.#rest.length < bytes) {
      const block = Buffer.alloc(Math.min(this.#left, Math.max(BLOCK_BYTES, bytes)));
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { bytesRead } = await this.#file.read(block, 0, block.length);
      if (bytesRead === 0) throw new Error('is incomplete');
      this.#left -= bytesRead;
      this.#rest = Buffer.concat([this.#rest, block.subarray(0, bytesRead)]);
    }
    const taken = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return taken;
  }
}
