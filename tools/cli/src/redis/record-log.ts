import { messageOf } from '@sluice/core/kit';
import type { Call } from '../console/command.ts';
import { CommandError, UsageError } from '../console/failure.ts';
import { clientOf, type Client } from './client.ts';
import { storeAddressOf } from './open-store.ts';

/** About how many records the stream has at most: Redis removes the oldest ones in whole nodes. */
const MOST_RECORDS = 10_000;
/** How many are read in one step. */
const OF_A_STEP = 500;

/** The stream of records in Redis: `log` under the prefix. No bucket has this key, which has no colon after a name. */
export class RecordLog {
  readonly #client: Client;
  readonly key: string;

  /** @param address - As of {@link clientOf}. */
  constructor(call: Call, address?: string) {
    this.key = logKeyOf(call.text('prefix'));
    this.#client = clientOf(call, address);
  }

  /**
   * Finds out whether a record can be added, and adds none: the id is too low for a stream with records, and a missing one
   * is not made.
   *
   * @throws {CommandError} If it can't.
   */
  async check(): Promise<void> {
    try {
      await this.#client.xadd(this.key, 'NOMKSTREAM', '0-1', 'record', '');
    } catch (error) {
      if (/equal or smaller/.test(messageOf(error))) return;
      throw this.#failed('Records can not be added to', error, '+xadd');
    }
  }

  /** @throws {CommandError} If there is no answer. */
  async add(record: string): Promise<void> {
    try {
      await this.#client.xadd(this.key, 'MAXLEN', '~', MOST_RECORDS, '*', 'record', record);
    } catch (error) {
      throw this.#failed('The record was not added to', error, '+xadd');
    }
  }

  /**
   * Reads the records from a moment on, the oldest first: the texts of the field `record`.
   *
   * @param sinceMs - How long ago the moment was, by the clock of Redis; undefined for all records.
   * @throws {CommandError} If Redis does not permit it, or does not answer.
   */
  async *read(sinceMs: number | undefined): AsyncGenerator<readonly string[]> {
    try {
      let start = sinceMs === undefined ? '-' : `${Math.max(0, (await this.#nowMs()) - sinceMs)}`;
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- one step after the other
        const entries = await this.#client.xrange(this.key, start, '+', 'COUNT', OF_A_STEP);
        yield entries.map(([, fields]) => fields[fields.indexOf('record') + 1] ?? '');
        if (entries.length < OF_A_STEP) return;
        start = `(${entries.at(-1)![0]}`;
      }
    } catch (error) {
      throw this.#failed('Redis can not read', error, '+xrange +time');
    }
  }

  close(): void {
    this.#client.disconnect();
  }

  async #nowMs(): Promise<number> {
    const [seconds] = (await this.#client.call('time')) as readonly [string, string];
    return Number(seconds) * 1000;
  }

  #failed(what: string, error: unknown, permissions: string): CommandError {
    const ofReply = `Give the user ${permissions}, or delete what another program has there`;
    const isReply = error instanceof Error && error.name === 'ReplyError';
    const remedy = isReply ? ofReply : 'Check that Redis answers, or raise `--timeout`';
    return new CommandError(`${what} ${this.key}: ${messageOf(error)}. ${remedy}.`);
  }
}

/**
 * Returns the log of the store of the command line.
 *
 * @throws {UsageError} If that is not Redis.
 */
export function recordLogOf(call: Call): RecordLog {
  const address = storeAddressOf(call);
  if (address === undefined || /^rediss?:/.test(address)) return new RecordLog(call, address);
  const remedy = address.startsWith('serve:') ? 'Name its Redis by --redis' : 'Write the records with --audit';
  throw new UsageError(`The log is a stream in Redis, and this is another store. ${remedy}.`);
}

/** Returns the key of the log of a store. */
export function logKeyOf(prefix = 'sluice:'): string {
  return `${prefix}log`;
}
