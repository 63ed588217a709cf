import { createHook } from 'node:async_hooks';
import { Session } from 'node:inspector/promises';

/** What a run of a function has done in the packages of this repository. */
export interface Counted {
  /** Functions that were entered, each time. */
  readonly calls: number;
  /** Files that these functions are in. */
  readonly files: number;
  /** Objects, arrays, functions and texts that these functions have made, without {@link NUMBER_BYTES single numbers}. */
  readonly objects: number;
  /** Promises that were made, also by others: six are those of a request without a limit. */
  readonly promises: number;
  /** The functions with the number of their calls, most first. */
  readonly functions: readonly string[];
}

const OWN = /\/packages\/(\w+\/(?:src|dist)\/.*)$/;
/** A limiter looks at its first hundred requests more closely. */
const WARM_UP = 120;
const RUNS = 5;
/** A number that is not a small integer. Code that V8 has not optimised makes one for each result, other code few. */
const NUMBER_BYTES = 16;

/**
 * Counts what one run of a function does, after it has run some times.
 *
 * @param begin - Begins a run, which has ended when it calls `done`.
 */
export async function countedIn(begin: (done: () => void) => void): Promise<Counted> {
  const run = (): Promise<void> => new Promise((resolve) => begin(resolve));
  for (let i = 0; i < WARM_UP; i++) await run(); // oxlint-disable-line no-await-in-loop -- one after the other
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  // Once more, because beginning has forgotten which functions are known.
  await run();
  const counts: Counted[] = [];
  for (let i = 0; i < RUNS; i++) counts.push(await countedOnce(session, run)); // oxlint-disable-line no-await-in-loop
  session.disconnect();
  return counts.reduce(least);
}

/** The least of each figure: a timer may fall into a run that waits for a server. */
function least(one: Counted, other: Counted): Counted {
  return {
    calls: Math.min(one.calls, other.calls),
    files: Math.min(one.files, other.files),
    objects: Math.min(one.objects, other.objects),
    promises: Math.min(one.promises, other.promises),
    functions: other.calls < one.calls ? other.functions : one.functions,
  };
}

async function countedOnce(session: Session, run: () => Promise<void>): Promise<Counted> {
  await session.post('Profiler.takePreciseCoverage');
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (type === 'PROMISE' && promises++) }).enable();
  await run();
  hook.disable();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const objects = await objectsIn(session, run);
  const own = result.flatMap(({ url, functions }) => {
    const [, file] = OWN.exec(url) ?? [];
    if (file === undefined) return [];
    return functions.map(({ functionName, ranges }) => ({ file, name: functionName, count: ranges[0]?.count ?? 0 }));
  });
  const entered = own.filter(({ count }) => count > 0);
  return {
    calls: entered.reduce((sum, { count }) => sum + count, 0),
    files: new Set(entered.map(({ file }) => file)).size,
    objects,
    promises,
    functions: entered
      .toSorted((one, other) => other.count - one.count)
      .map(({ file, name, count }) => `${count} ${file} ${name}`),
  };
}

/** A function in a profile of allocations, and those that it called. The types of Node lack what newer versions have. */
interface AllocationNode {
  readonly id: number;
  readonly callFrame: { readonly url: string };
  readonly children: readonly AllocationNode[];
}

interface AllocationProfile {
  readonly head: AllocationNode;
  /** One for each object. */
  readonly samples: readonly { readonly nodeId: number; readonly size: number }[];
}

async function objectsIn(session: Session, run: () => Promise<void>): Promise<number> {
  // A sample of every byte has every object.
  const options = {
    samplingInterval: 1,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  };
  await session.post('HeapProfiler.startSampling', options);
  await run();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  const { head, samples } = profile as unknown as AllocationProfile;
  const own = new Set(ownNodes(head).map(({ id }) => id));
  return samples.filter(({ nodeId, size }) => own.has(nodeId) && size > NUMBER_BYTES).length;
}

function ownNodes(node: AllocationNode): AllocationNode[] {
  const below = node.children.flatMap(ownNodes);
  return OWN.test(node.callFrame.url) ? [node, ...below] : below;
}
