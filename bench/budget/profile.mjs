import { Session } from 'node:inspector/promises';

const SAMPLE_MICROS = 100;

/** The stage of garbage collection: whose garbage it is, no profile says. */
export const COLLECTION = 'garbage collection';

/**
 * Which file belongs to which stage; the first that matches holds.
 *
 * @typedef {readonly (readonly [stage: string, file: RegExp])[]} Stages
 */

/** @typedef {import('node:inspector').Profiler.Profile} Profile */
/** @typedef {import('node:inspector').Profiler.ProfileNode} Node */

/**
 * Takes samples of what V8 is doing.
 *
 * @param {() => Promise<void> | void} run
 * @returns {Promise<Profile>}
 */
export async function profileOf(run) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  await session.post('Profiler.start');
  await run();
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  return profile;
}

/**
 * @param {Profile} profile
 * @param {Stages} stages
 * @returns {Map<string, number>} Nanoseconds by stage.
 */
export function nanosecondsByStage({ nodes, samples = [], timeDeltas = [] }, stages) {
  const stageOf = stagesOf(nodes, stages);
  /** @type {Map<string, number>} */
  const spent = new Map();
  for (const [i, id] of samples.entries()) {
    const stage = stageOf.get(id);
    if (stage !== undefined) spent.set(stage, (spent.get(stage) ?? 0) + 1000 * (timeDeltas[i] ?? 0));
  }
  return spent;
}

/**
 * The stage of each node: what Node itself does belongs to whoever called it; what others do belongs to nobody.
 *
 * @param {readonly Node[]} nodes
 * @param {Stages} stages
 * @returns {Map<number, string | undefined>}
 */
function stagesOf(nodes, stages) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stageOf = new Map();
  const [root] = nodes;
  if (root !== undefined) visit(root, undefined);
  return stageOf;

  /**
   * @param {Node} node
   * @param {string | undefined} callers
   */
  function visit({ id, callFrame: { url, functionName }, children = [] }, callers) {
    const isNodes = url === '' || url.startsWith('node:');
    const own = stages.find(([, file]) => file.test(url))?.[0];
    const stage = functionName === '(garbage collector)' ? COLLECTION : (own ?? (isNodes ? callers : undefined));
    stageOf.set(id, stage);
    for (const child of children) visit(/** @type {Node} */ (byId.get(child)), stage);
  }
}
