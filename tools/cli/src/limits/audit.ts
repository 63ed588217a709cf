import { createHash } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import type { Figures } from './figures.ts';

/** The version of a record. */
const VERSION = 1;

/** How a change ended: it may have been made although no answer came. */
type Ending = 'done' | 'not done' | 'unknown';

/** Writes who has changed a bucket, if `--audit` is given. */
export class Audit {
  readonly #call: Call;
  readonly #what: string;
  readonly #by: string;

  /**
   * @param what - The change: `reset`.
   * @throws {UsageError} If nobody is named who does it, or options are missing that belong together.
   */
  constructor(call: Call, what: string) {
    this.#call = call;
    this.#what = what;
    if (!this.isOn) rejectAlone(call);
    this.#by = this.isOn ? whoDoes(call) : '';
  }

  /** Whether records are written. */
  get isOn(): boolean {
    return this.#call.has('audit');
  }

  /**
   * Makes a change, and writes a record of it whatever becomes of it.
   *
   * @param look - Reads the bucket before the change.
   */
  async of<T extends { readonly figures: Figures }>(
    look: () => Promise<Figures>,
    change: () => Promise<T>,
  ): Promise<T> {
    if (!this.isOn) return change();
    const before = await look();
    try {
      const changed = await change();
      this.#write(before, changed.figures.remaining, 'done');
      return changed;
    } catch (error) {
      this.#write(before, null, error instanceof UsageError ? 'not done' : 'unknown');
      throw error;
    }
  }

  #write({ limit, id, remaining }: Figures, after: number | null, outcome: Ending): void {
    const { console } = this.#call;
    const record = {
      type: 'sluice-audit',
      version: VERSION,
      time: new Date(console.time.wallNow()).toISOString(),
      by: this.#by,
      what: this.#what,
      limit,
      id: this.#call.has('hashIds') ? `sha256:${createHash('sha256').update(id).digest('hex').slice(0, 32)}` : id,
      // JSON has no Infinity, which is what is left of an id without a limit.
      before: Number.isFinite(remaining) ? remaining : null,
      after: after !== null && Number.isFinite(after) ? after : null,
      outcome,
      reason: this.#call.text('reason') ?? null,
    };
    console.terminal.write('stderr', `${JSON.stringify(record)}\n`);
  }
}

function rejectAlone(call: Call): void {
  const flags = { by: 'by', reason: 'reason', hashIds: 'hash-ids' };
  for (const [name, flag] of Object.entries(flags))
    if (call.has(name) || call.text(name) !== undefined)
      throw new UsageError(`\`--${flag}\` must be given with \`--audit\`, whose record has it. Add --audit.`);
}

function whoDoes(call: Call): string {
  const by = call.text('by');
  if (by !== undefined && by.trim() !== '') return by;
  if (by === undefined && call.console.terminal.stdin.isTTY === true) return `${userInfo().username}@${hostname()}`;
  throw new UsageError('`--by` must name who does it where stdin is not a terminal. For example --by deploy-bot.');
}
