import { createHook } from 'node:async_hooks';
import { Session, type Profiler } from 'node:inspector/promises';

/** What one run of a function does in the packages of this repository. */
export interface Counted {
  /** Lines of code that are executed, once or more often. */
  readonly lines: number;
  /** Functions that are entered, each time. */
  readonly calls: number;
  /** How often a function is entered in a file that had been left. */
  readonly returns: number;
  /** Promises that are made, also by others: six are those of a request without a limit. */
  readonly promises: number;
  /** The functions with the number of their calls, most first. */
  readonly functions: readonly string[];
}

/** Begins a run, which has ended when it calls `done`. */
export type Begin = (done: () => void) => void;

const OWN = /\/(?:packages|tools)\/(\w+\/src\/.*)$/;
const WARM_UP = 20;
const RUNS = 5;

/** Counts runs. It has to be made before what it counts is loaded: code that was loaded before has no counters of lines. */
export class Counter {
  readonly #session = new Session();

  static async make(): Promise<Counter> {
    const counter = new Counter();
    counter.#session.connect();
    await counter.#session.post('Profiler.enable');
    // It gives the sources. Disabled after it has, it would remove the counters of blocks from all that is loaded, and
    // each function of a later path would count with all of its lines.
    await counter.#session.post('Debugger.enable');
    await counter.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    return counter;
  }

  /** Counts one run, after some others. */
  async countedIn(begin: Begin): Promise<Counted> {
    const run = (): Promise<void> => new Promise((resolve) => begin(resolve));
    for (let i = 0; i < WARM_UP; i++) await run(); // oxlint-disable-line no-await-in-loop -- one after the other
    const counts: Counted[] = [];
    for (let i = 0; i < RUNS; i++) counts.push(await this.#countedOnce(run)); // oxlint-disable-line no-await-in-loop
    return counts.reduce(least);
  }

  async #countedOnce(run: () => Promise<void>): Promise<Counted> {
    const files: string[] = [];
    let promises = 0;
    const hook = createHook({ init: (_id, type) => void (type === 'PROMISE' && promises++) });
    await this.#session.post('Profiler.takePreciseCoverage');
    globalThis.sluiceEntered = (url) => void files.push(url);
    hook.enable();
    await run();
    hook.disable();
    globalThis.sluiceEntered = () => {};
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const own = result.filter(({ url }) => OWN.test(url));
    const lines = await Promise.all(own.map((script) => this.#linesOf(script)));
    const entered = own.flatMap(enteredIn).toSorted((one, other) => other.count - one.count);
    return {
      lines: sumOf(lines),
      calls: sumOf(entered.map(({ count }) => count)),
      returns: returnsIn(files),
      promises,
      functions: entered.map(({ file, name, count }) => `${count} ${file} ${name}`),
    };
  }

  async #linesOf({ scriptId, functions }: Profiler.ScriptCoverage): Promise<number> {
    const { scriptSource } = await this.#session.post('Debugger.getScriptSource', { scriptId });
    const isExecuted = new Uint8Array(scriptSource.length);
    // Functions and blocks come before those that they contain.
    const ranges = functions.flatMap((each) => each.ranges).toSorted(outerFirst);
    for (const { startOffset, endOffset, count } of ranges) isExecuted.fill(count > 0 ? 1 : 0, startOffset, endOffset);
    let start = 0;
    return scriptSource.split('\n').filter((line) => {
      const code = line.search(/\S/);
      const executed = code >= 0 && isExecuted.subarray(start + code, start + line.length).includes(1);
      start += line.length + 1;
      return executed;
    }).length;
  }
}

/** The least of each figure: a timer may fall into a run that waits for a server, and each 16th call of a memory store does more. */
function least(one: Counted, other: Counted): Counted {
  return {
    lines: Math.min(one.lines, other.lines),
    calls: Math.min(one.calls, other.calls),
    returns: Math.min(one.returns, other.returns),
    promises: Math.min(one.promises, other.promises),
    functions: other.calls < one.calls ? other.functions : one.functions,
  };
}

function outerFirst(one: Profiler.CoverageRange, other: Profiler.CoverageRange): number {
  return one.startOffset - other.startOffset || other.endOffset - one.endOffset;
}

function enteredIn({ url, functions }: Profiler.ScriptCoverage): { file: string; name: string; count: number }[] {
  const file = OWN.exec(url)![1]!;
  return functions.flatMap(({ functionName: name, ranges }) => {
    const { count } = ranges[0]!;
    // The whole script was executed when it was loaded.
    return count > 0 ? [{ file, name, count }] : [];
  });
}

function returnsIn(files: readonly string[]): number {
  const left = new Set<string>();
  let returns = 0;
  for (const [i, file] of files.entries()) {
    if (file === files[i - 1]) continue;
    if (left.has(file)) returns++;
    left.add(file);
  }
  return returns;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

declare global {
  /** Called with the URL of a file of a package when one of its functions is entered, see loader.mjs. */
  var sluiceEntered: (url: string) => void;
}
