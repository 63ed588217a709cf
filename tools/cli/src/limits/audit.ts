import { SluiceError } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';
import type { BucketName, StoreBlock } from '@sluice/core/store';
import { hostname, userInfo } from 'node:os';
import type { Call } from '../console/command.ts';
import { CommandError, UsageError } from '../console/failure.ts';
import { servedAt } from '../redis/open-store.ts';
import { recordLogOf, type RecordLog } from '../redis/record-log.ts';
import type { Figures } from './figures.ts';
import { hashedId, type AuditRecord } from './records.ts';
import { servedLog } from './served-buckets.ts';

/** The longest `--by` and `--reason` of a record in Redis. */
const MAX_LENGTH = 500;

/** What a record has of a bucket: the tokens that are left, or the end of a block. */
type Recorded = BucketName & { readonly before?: number; readonly after?: number; readonly until?: string | undefined };

/** Writes who has changed a bucket: to stderr with `--audit`, and to Redis with `--log`. */
export class Audit {
  readonly #call: Call;
  readonly #what: string;
  readonly #by: string;
  readonly #log: Pick<RecordLog, 'check' | 'add' | 'close'> | undefined;

  /**
   * @param what - The change: `reset`.
   * @param options - Whether the change itself contains who makes it, and why.
   * @throws {UsageError} If nobody is named who does it, or options are missing that belong together.
   */
  constructor(call: Call, what: string, { isExplained = false }: { readonly isExplained?: boolean } = {}) {
    this.#call = call;
    this.#what = what;
    if (!this.isOn) rejectAlone(call, isExplained ? [] : ['by', 'reason']);
    this.#by = this.isOn ? whoDoes(call) : '';
    this.#log = call.has('log') ? logOf(call) : undefined;
  }

  /** Whether records are written. */
  get isOn(): boolean {
    return this.#call.has('audit') || this.#call.has('log');
  }

  /**
   * Makes a change, and writes a record of it whatever becomes of it.
   *
   * @param look - Reads the bucket before the change.
   * @throws {CommandError} If the log can't be written: before the change if possible.
   */
  of<T extends { readonly figures: Figures }>(look: () => Promise<Figures>, change: () => Promise<T>): Promise<T> {
    const seen = async (): Promise<Recorded> => {
      const { limit, id, remaining } = await look();
      return { limit, id, before: remaining };
    };
    return this.#recorded(seen, change, ({ figures }) => ({ after: figures.remaining }));
  }

  /**
   * Makes or ends a block, and writes a record of it however it ends. The bucket stays as it is.
   *
   * @throws {CommandError} As {@link of}.
   */
  ofBlock<T extends StoreBlock | undefined>({ limit, id }: BucketName, change: () => Promise<T>): Promise<T> {
    return this.#recorded(
      async () => ({ limit, id }),
      change,
      (block) => ({ until: block && new Date(block.untilMs).toISOString() }),
    );
  }

  async #recorded<T>(
    look: () => Promise<Recorded>,
    change: () => Promise<T>,
    found: (changed: T) => Omit<Recorded, keyof BucketName>,
  ): Promise<T> {
    if (!this.isOn) return change();
    try {
      await this.#log?.check();
      const before = await look();
      const changed = await change().catch(async (error: unknown) => {
        const lost = await this.#write(before, isRejected(error) ? 'not done' : 'unknown');
        if (lost !== undefined) this.#call.console.line(lost);
        throw error;
      });
      const lost = await this.#write({ ...before, ...found(changed) }, 'done');
      if (lost !== undefined) throw new CommandError(`The change was made. ${lost}`);
      return changed;
    } finally {
      this.#log?.close();
    }
  }

  /** Returns what is wrong if the record could not be added to the log. */
  async #write(
    { limit, id, before = NaN, after = NaN, until }: Recorded,
    outcome: AuditRecord['outcome'],
  ): Promise<string | undefined> {
    const { console } = this.#call;
    const record: AuditRecord = {
      type: 'sluice-audit',
      version: 1,
      time: new Date(console.time.wallNow()).toISOString(),
      by: this.#by,
      what: this.#what,
      limit,
      id: this.#call.has('hashIds') ? hashedId(id) : id,
      // JSON has no Infinity, which is what is left of an id without a limit.
      before: Number.isFinite(before) ? before : null,
      after: Number.isFinite(after) ? after : null,
      ...(until !== undefined && { until }),
      outcome,
      reason: this.#call.text('reason') ?? null,
    };
    const text = JSON.stringify(record);
    if (this.#call.has('audit')) console.line(text);
    try {
      await this.#log?.add(text);
      return undefined;
    } catch (error) {
      return `${messageOf(error)} Its record is: ${text}`;
    }
  }
}

function logOf(call: Call): Pick<RecordLog, 'check' | 'add' | 'close'> {
  for (const name of ['by', 'reason'])
    if ((call.text(name)?.length ?? 0) > MAX_LENGTH)
      throw new UsageError(`\`--${name}\` must have at most ${MAX_LENGTH} characters with \`--log\`. Shorten it.`);
  const service = servedAt(call);
  return service === undefined ? recordLogOf(call) : servedLog(call, service);
}

/**
 * Waits for a change. Ctrl-C meanwhile writes what is known.
 *
 * @param remedy - What to do if it is not known whether it was made.
 * @throws {CommandError} If it is not known. Otherwise what the change rejects with.
 */
export async function awaitChange<Result>({ console }: Call, change: Promise<Result>, remedy: string): Promise<Result> {
  const unknown = `It is not known whether the change was made. ${remedy}`;
  const write = (): void => console.note(unknown);
  console.interrupted.addEventListener('abort', write);
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof SluiceError) || error.kind !== 'store') throw error;
    throw new CommandError(`${error.message} ${unknown}`);
  } finally {
    console.interrupted.removeEventListener('abort', write);
  }
}

/** Whether a change was refused before anything was sent. */
function isRejected(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof SluiceError && error.kind !== 'store');
}

function rejectAlone(call: Call, flags: readonly string[]): void {
  for (const [name, flag] of [...flags.map((each) => [each, each] as const), ['hashIds', 'hash-ids'] as const])
    if (call.has(name) || call.text(name) !== undefined)
      throw new UsageError(
        `\`--${flag}\` must be given with \`--audit\` or \`--log\`, whose record has it. Add one of them.`,
      );
}

/**
 * Returns who makes a change: `--by`, or user and host on a terminal.
 *
 * @throws {UsageError} If neither is there.
 */
export function whoDoes(call: Call): string {
  const by = call.text('by');
  if (by !== undefined && by.trim() !== '') return by;
  if (by === undefined && call.console.terminal.stdin.isTTY === true) return `${userInfo().username}@${hostname()}`;
  throw new UsageError('`--by` must name who does it where stdin is not a terminal. For example --by deploy-bot.');
}
