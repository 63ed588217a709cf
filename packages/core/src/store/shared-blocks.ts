import type { Awaitable } from '../async/awaitable.ts';
import { isInstance, SluiceError } from '../checks/errors.ts';
import { randomBytes } from '../runtime/random-bytes.ts';
import type { Time } from '../time/time.ts';
import { KnownBlocks, withBlocks, withoutBlocks } from './known-blocks.ts';
import type { StoreBlock, StoreBlocks, BucketName } from './store.ts';

/** Where all blocks of a store are: one text, which is replaced as a whole. */
export interface BlocksText {
  /**
   * Reads the text; `''` if there is none. Returns undefined if it still begins with `revision`, which is not `''`: a list that is
   * long is then not sent.
   *
   * @param deadlineMs - How long the caller waits, in milliseconds.
   */
  read(revision: string, deadlineMs: number): Awaitable<string | undefined>;
  /**
   * Replaces the text if it still begins with `revision`; for `''`, if there is none. Atomic among all processes.
   *
   * @param text - `''` to delete it.
   * @param lifeMs - The store may delete the text after so many milliseconds: all blocks have ended then.
   * @returns Whether it was replaced.
   */
  write(revision: string, text: string, lifeMs: number, deadlineMs: number): Awaitable<boolean>;
}

/** How long a revision is, in characters. */
const REVISION_LENGTH = 16;
/** The version of the text. */
const VERSION = 1;
/** The text is read at most so often. */
const READ_EVERY_MICROS = 1_000_000;
/** A read that has not ended by then never will: that of a Worker ends with the request that began it. */
const READ_ENDS_MICROS = 10_000_000;
/** How long a read may take while nobody waits for it, in milliseconds. */
const READ_MS = 1000;
/** So often a change is tried again, because another process has changed the text meanwhile. */
const MOST_TRIES = 10;
/** The clocks of other processes may be behind: the text lives longer by so much. */
const MORE_LIFE_MS = 600_000;

/**
 * Creates the property `blocks` of a store that several processes use. The store has to keep one text.
 *
 * @param time - That of the store.
 */
export function storeBlocks(text: BlocksText, time: Time): StoreBlocks {
  return new SharedBlocks(text, time);
}

/** The blocks of a store that several processes use, which each reads at most once a second. */
class SharedBlocks extends KnownBlocks {
  readonly #text: BlocksText;
  readonly #time: Time;
  #revision = '';
  #dueMicros = -Infinity;
  /** Whether the last read has found something that does not end by itself. */
  #isBroken = false;
  /** Counts what took effect: an older text must not replace it. */
  #changes = 0;

  constructor(text: BlocksText, time: Time) {
    super();
    this.#text = text;
    this.#time = time;
  }

  note(): void {
    const nowMicros = this.#time.nowMicros();
    if (nowMicros >= this.#dueMicros) void this.#readAside(nowMicros);
  }

  override async put(blocks: readonly StoreBlock[], nowMs: number, deadlineMs: number): Promise<void> {
    await this.#change((all) => withBlocks(all, blocks, nowMs), deadlineMs);
  }

  override async delete(buckets: readonly BucketName[], deadlineMs: number): Promise<readonly StoreBlock[]> {
    let found: readonly StoreBlock[] = [];
    await this.#change((all) => {
      const { left, deleted } = withoutBlocks(all, buckets);
      found = deleted;
      return deleted.length === 0 ? all : left;
    }, deadlineMs);
    return found;
  }

  override async list(deadlineMs: number): Promise<readonly StoreBlock[]> {
    const { blocks } = await this.#read(deadlineMs);
    this.#dueMicros = this.#time.nowMicros() + READ_EVERY_MICROS;
    return blocks;
  }

  async #read(deadlineMs: number): Promise<{ readonly revision: string; readonly blocks: readonly StoreBlock[] }> {
    const mark = ++this.#changes;
    // The clock has gone back since they were forgotten.
    if (this.isEmpty && this.#time.wallNow() < this.endMs) this.#revision = '';
    const known = { revision: this.#revision, blocks: this.all };
    const text = await this.#text.read(known.revision, deadlineMs);
    if (text === undefined) return known;
    const read = { revision: revisionOf(text), blocks: blocksIn(text) };
    // Something newer has taken effect otherwise.
    if (this.#changes === mark && read.revision !== this.#revision) this.#use(read.revision, read.blocks);
    return read;
  }

  async #readAside(nowMicros: number): Promise<void> {
    this.#dueMicros = nowMicros + READ_ENDS_MICROS;
    try {
      await this.#read(READ_MS);
      this.#isBroken = false;
    } catch (error) {
      // A store that can't answer has made that known. What is known stays in effect.
      if (this.#isBroken || !isInstance(error, SluiceError) || !PERMANENT.has(error.code)) return;
      this.#isBroken = true;
      this.notify(error);
    } finally {
      this.#dueMicros = nowMicros + READ_EVERY_MICROS;
    }
  }

  async #change(change: (all: readonly StoreBlock[]) => readonly StoreBlock[], deadlineMs: number): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      // oxlint-disable-next-line no-await-in-loop -- one try after the other
      const before = await this.#read(deadlineMs);
      const blocks = change(before.blocks);
      if (blocks === before.blocks) return;
      const text = blocks.length === 0 ? '' : textOf(blocks);
      const lifeMs = Math.max(0, ...blocks.map(({ untilMs }) => untilMs - this.#time.wallNow())) + MORE_LIFE_MS;
      // oxlint-disable-next-line no-await-in-loop
      if (!(await this.#text.write(before.revision, text, lifeMs, deadlineMs))) continue;
      this.#changes++;
      return this.#use(revisionOf(text), blocks);
    }
    throw new SluiceError(
      'ERR_STORE_UNAVAILABLE',
      `Others have changed the blocks of the store at each of ${MOST_TRIES} tries. Try it again.`,
    );
  }

  #use(revision: string, blocks: readonly StoreBlock[]): void {
    this.#revision = revision;
    this.replace(blocks);
  }
}

/** Errors that do not end by themselves. */
const PERMANENT: ReadonlySet<string> = new Set(['ERR_STORE_ANSWER', 'ERR_STORE_BUCKET', 'ERR_STORE_SCHEMA']);

function revisionOf(text: string): string {
  return text.slice(0, REVISION_LENGTH);
}

/** A revision that no text had before, and the blocks as JSON. */
function textOf(blocks: readonly StoreBlock[]): string {
  const revision = Array.from(randomBytes(REVISION_LENGTH / 2), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${revision} ${JSON.stringify({ version: VERSION, blocks })}`;
}

/** @throws {SluiceError} `ERR_STORE_ANSWER` for a text of another form. */
function blocksIn(text: string): readonly StoreBlock[] {
  if (text === '') return [];
  try {
    const { version, blocks } = JSON.parse(text.slice(REVISION_LENGTH)) as {
      readonly version: unknown;
      readonly blocks: readonly StoreBlock[];
    };
    if (version === VERSION && blocks.every(isBlock)) return blocks;
  } catch {
    // As for another version.
  }
  throw new SluiceError(
    'ERR_STORE_ANSWER',
    'The blocks in the store are not those of this version of Sluice, so none that was made since takes effect in this process. ' +
      'Update it, or delete what another program has written there.',
  );
}

function isBlock({ limit, id, untilMs, reason, by }: Partial<StoreBlock>): boolean {
  return [limit, id, reason, by].every((text) => typeof text === 'string') && Number.isFinite(untilMs);
}
