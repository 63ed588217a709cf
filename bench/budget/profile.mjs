import { Session } from 'node:inspector/promises';
import { sourceOf } from './sources.mjs';

const SAMPLE_MICROS = 100;

/** What Node, Koa and Fastify do when they are asked, and nothing else. */
const ON_BEHALF =
  /^$|^node:|\/koa\/lib\/(context|request|response)\.js$|\/fastify\/lib\/(reply|request)\.js$|\/find-my-way\//;

/** The stage of garbage collection: whose garbage it is, no profile says. */
export const COLLECTION = 'garbage collection';

/**
 * Which source file belongs to which stage: the first that matches.
 *
 * @typedef {readonly (readonly [stage: string, file: RegExp])[]} Stages
 */

/** @typedef {import('node:inspector').Profiler.Profile} Profile */
/** @typedef {import('node:inspector').Profiler.ProfileNode} Node */

/**
 * Takes samples of what V8 is doing, the second time that something runs. The first time is sampled too: only while it is
 * does V8 note which lines the code comes from that it puts into other functions.
 *
 * @param {() => Promise<void> | void} run
 * @returns {Promise<Profile>}
 */
export async function profileOf(run) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS });
  const once = async () => {
    await session.post('Profiler.start');
    await run();
    return session.post('Profiler.stop');
  };
  await once();
  const { profile } = await once();
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
 * The stage of each node: what is done on somebody's behalf belongs to whoever called; what others do belongs to nobody.
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
  function visit({ id, callFrame, children = [] }, callers) {
    const { url, functionName } = callFrame;
    const source = sourceOf(callFrame);
    const own = stages.find(([, file]) => file.test(source))?.[0];
    const stage =
      functionName === '(garbage collector)' ? COLLECTION : (own ?? (ON_BEHALF.test(url) ? callers : undefined));
    stageOf.set(id, stage);
    for (const child of children) visit(/** @type {Node} */ (byId.get(child)), stage);
  }
}
