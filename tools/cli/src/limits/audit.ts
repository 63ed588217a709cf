import { messageOf } from '@sluice/core/kit';
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

/** Writes who has changed a bucket: to stderr with `--audit`, and to Redis with `--log`. */
export class Audit {
  readonly #call: Call;
  readonly #what: string;
  readonly #by: string;
  readonly #log: Pick<RecordLog, 'check' | 'add' | 'close'> | undefined;

  /**
   * @param what - The change: `reset`.
   * @throws {UsageError} If nobody is named who does it, or options are missing that belong together.
   */
  constructor(call: Call, what: string) {
    this.#call = call;
    this.#what = what;
    if (!this.isOn) rejectAlone(call);
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
  async of<T extends { readonly figures: Figures }>(
    look: () => Promise<Figures>,
    change: () => Promise<T>,
  ): Promise<T> {
    if (!this.isOn) return change();
    try {
      await this.#log?.check();
      const before = await look();
      const changed = await change().catch(async (error: unknown) => {
        const lost = await this.#write(before, null, error instanceof UsageError ? 'not done' : 'unknown');
        if (lost !== undefined) this.#call.console.line(lost);
        throw error;
      });
      const lost = await this.#write(before, changed.figures.remaining, 'done');
      if (lost !== undefined) throw new CommandError(`The change was made. ${lost}`);
      return changed;
    } finally {
      this.#log?.close();
    }
  }

  /** Returns what is wrong if the record could not be added to the log. */
  async #write(
    { limit, id, remaining }: Figures,
    after: number | null,
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
      before: Number.isFinite(remaining) ? remaining : null,
      after: after !== null && Number.isFinite(after) ? after : null,
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

function rejectAlone(call: Call): void {
  const flags = { by: 'by', reason: 'reason', hashIds: 'hash-ids' };
  for (const [name, flag] of Object.entries(flags))
    if (call.has(name) || call.text(name) !== undefined)
      throw new UsageError(
        `\`--${flag}\` must be given with \`--audit\` or \`--log\`, whose record has it. Add one of them.`,
      );
}

function whoDoes(call: Call): string {
  const by = call.text('by');
  if (by !== undefined && by.trim() !== '') return by;
  if (by === undefined && call.console.terminal.stdin.isTTY === true) return `${userInfo().username}@${hostname()}`;
  throw new UsageError('`--by` must name who does it where stdin is not a terminal. For example --by deploy-bot.');
}
