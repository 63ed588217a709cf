import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Counted } from './counted.ts';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The most that one request may do. Lower a figure when it falls, and do not raise it. */
export type Pins = Partial<Omit<Counted, 'functions'>>;

/** What rose above its pins, with all functions that were entered. */
interface Risen {
  readonly path: string;
  readonly figures: Pins;
  readonly functions: readonly string[];
}

/** Counts what a request does, and returns the paths on which it does more than its pins. */
export async function abovePins(
  pins: Readonly<Record<string, Pins>>,
  ...args: readonly string[]
): Promise<readonly Risen[]> {
  const counted = await printedBy<Counted>(['--import', file('loader.mjs'), file('program.ts'), ...args]);
  return Object.entries(pins).flatMap(([path, most]) => {
    const { functions = [], ...figures } = counted[path] ?? {};
    const names = Object.keys(most) as (keyof Pins)[];
    const isKept = names.every((name) => ((figures as Pins)[name] ?? Infinity) <= most[name]!);
    const low = names.filter((name) => isFarBelow((figures as Pins)[name] ?? Infinity, most[name]!));
    if (low.length > 0) console.log(`Lower the pins of ${path}, ${low.join(', ')}: ${JSON.stringify(figures)}`);
    return isKept ? [] : [{ path, figures, functions }];
  });
}

/** Whether a figure has fallen so far that its bound says nothing. */
export function isFarBelow(figure: number, most: number): boolean {
  return figure < 0.97 * most - 1;
}

/** Returns how many bytes the middleware allocates for a request on each path. */
export function bytesOfRequests(): Promise<Readonly<Record<string, number>>> {
  // The young generation is so large that nothing is collected while a run is measured.
  const memory = ['--expose-gc', '--min-semi-space-size=256', '--max-semi-space-size=256'];
  // What is allocated depends on what is compiled, and that, with more threads, on how busy the machine is.
  memory.push('--single-threaded');
  const typescript = ['--import', file('../../redis/processes/typescript.mjs')];
  return printedBy([...memory, ...typescript, file('allocated.ts')]);
}

async function printedBy<T>(program: readonly string[]): Promise<Readonly<Record<string, T>>> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@sluice/source', ...program], {
    maxBuffer: 1e7,
  });
  return JSON.parse(stdout) as Record<string, T>;
}
