import type { ScriptClient } from '../../../src/client/script-client.ts';
import { record } from './scripts.ts';
import { realDelay } from '../../../../../test/real-delay.ts';

const TICKS_PER_MS = 16_000;
/** How exactly the wall clock can be read. */
const CLOCK_STEP_MS = 2;

/** What came of calls that were made all the while that something went wrong. */
export interface Load {
  /** How many calls were done by now. */
  readonly done: number;
  /** Codes of errors, with how often each came. */
  readonly codes: ReadonlyMap<string, number>;
  /** By when each call had to be written, in ticks of the wall clock, by its id. */
  readonly deadlines: ReadonlyMap<number, number>;
  /** Waits for the end of every call that was made by now. */
  settled(): Promise<unknown>;
  /** Ends the load and waits for its last call. */
  stop(): Promise<void>;
}

/** Records calls under a key again and again, two at once every few milliseconds. */
export function load(scriptClient: ScriptClient, { keys = ['key'], deadlineMs = 50 } = {}): Load {
  const seen = { done: 0, codes: new Map<string, number>(), deadlines: new Map<number, number>() };
  const state = { isOver: false };
  const calls: Promise<void>[] = [];
  const one = async (id: number): Promise<void> => {
    try {
      const reply = scriptClient.run({ keys: [keys.at(id % keys.length) ?? ''], args: [record, id], deadlineMs });
      // Read after the call, whose time begins before this, however long the process is kept waiting between the two.
      seen.deadlines.set(id, wallTicks() + deadlineMs * TICKS_PER_MS);
      await reply;
      seen.done++;
    } catch (error) {
      const { code = 'none' } = error as { code?: string };
      seen.codes.set(code, (seen.codes.get(code) ?? 0) + 1);
    }
  };
  const loop = (async () => {
    for (let id = 0; !state.isOver;) {
      calls.push(one(id++), one(id++));
      // oxlint-disable-next-line no-await-in-loop -- a steady load
      await realDelay(4);
    }
    await Promise.all(calls);
  })();
  return Object.assign(seen, {
    settled: () => Promise.all(calls),
    stop: () => {
      state.isOver = true;
      return loop;
    },
  });
}

/** This machine's time, which is that of the servers too. */
function wallTicks(): number {
  return (Date.now() - Date.UTC(2026, 0)) * TICKS_PER_MS;
}

/** What a load has written, as {@link load} had it recorded. */
export class Record {
  readonly #lines: readonly (readonly string[])[];
  readonly #deadlines: ReadonlyMap<number, number>;

  constructor(lines: readonly string[], { deadlines }: Load) {
    this.#lines = lines.map((line) => line.split(' '));
    this.#deadlines = deadlines;
  }

  get length(): number {
    return this.#lines.length;
  }

  /** By how many milliseconds each write came after its deadline. */
  get lateMs(): number[] {
    const late = this.#lines.map(
      ([id, written]) => (Number(written) - this.#deadlines.get(Number(id))!) / TICKS_PER_MS,
    );
    return late.filter((ms) => ms > CLOCK_STEP_MS);
  }

  /** Calls that were written more than once. */
  get twice(): string[] {
    const ids = this.#lines.map(([id = '']) => id);
    return ids.filter((id, index) => ids.indexOf(id) !== index);
  }
}
