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
  /** The longest that a call took, in milliseconds. */
  readonly longestMs: number;
  /** Ends the load and waits for its last call. */
  stop(): Promise<void>;
}

/** Records calls under a key again and again, two at once every few milliseconds. */
export function load(scriptClient: ScriptClient, { keys = ['key'], deadlineMs = 50 } = {}): Load {
  const seen = { done: 0, codes: new Map<string, number>(), longestMs: 0 };
  const state = { isOver: false };
  const one = async (id: number): Promise<void> => {
    const startMs = performance.now();
    try {
      const args = [record, id, wallTicks() + deadlineMs * TICKS_PER_MS];
      await scriptClient.run({ keys: [keys.at(id % keys.length) ?? ''], args, deadlineMs });
      seen.done++;
    } catch (error) {
      const { code = 'none' } = error as { code?: string };
      seen.codes.set(code, (seen.codes.get(code) ?? 0) + 1);
    }
    seen.longestMs = Math.max(seen.longestMs, performance.now() - startMs);
  };
  const loop = (async () => {
    const calls: Promise<void>[] = [];
    for (let id = 0; !state.isOver;) {
      calls.push(one(id++), one(id++));
      // oxlint-disable-next-line no-await-in-loop -- a steady load
      await realDelay(4);
    }
    await Promise.all(calls);
  })();
  return Object.assign(seen, {
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

  constructor(lines: readonly string[]) {
    this.#lines = lines.map((scriptClient) => scriptClient.split(' '));
  }

  get length(): number {
    return this.#lines.length;
  }

  /** By how many milliseconds each write came after its deadline. */
  get lateMs(): number[] {
    const late = this.#lines.map(([, deadline, written]) => (Number(written) - Number(deadline)) / TICKS_PER_MS);
    return late.filter((ms) => ms > CLOCK_STEP_MS);
  }

  /** Calls that were written more than once. */
  get twice(): string[] {
    const ids = this.#lines.map(([id = '']) => id);
    return ids.filter((id, index) => ids.indexOf(id) !== index);
  }
}
