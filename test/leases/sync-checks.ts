// What sync.lua promises, as checks that both a test and the mutants of the script run.
import fc from 'fast-check';
import type { SyncCall, SyncEntry } from '../../packages/redis/src/leases/rules/sync-call.ts';
import { encodeSync } from '../../packages/redis/src/leases/sync-script.ts';
import { runSteered, STEERED_ORIGIN_MICROS } from '../../packages/redis/test/support/steered-script.ts';
import type { RedisServer } from '../redis/servers/redis-server.ts';
import { differenceOf } from './difference.ts';
import { SceneCounts, SyncComparison } from './sync-comparison.ts';
import { scenes } from './sync-scenes.ts';

/** Returns what is wrong with a text of the script; undefined if nothing is. */
type SyncCheck = (server: RedisServer, source: string) => Promise<string | undefined>;

/** The scenes that a check of a mutant tries, at most. */
const SCENES = 400;

/** Tries scenes until one differs. */
export async function differenceInScenes(
  server: RedisServer,
  source: string,
  counts: SceneCounts = new SceneCounts(),
  options: fc.Parameters<unknown> = { numRuns: SCENES, seed: 1, endOnFailure: true },
): Promise<string | undefined> {
  let difference: string | undefined;
  const property = fc.asyncProperty(scenes, async (scene) => {
    const found = await new SyncComparison(server, source, scene, counts).run(scene.steps);
    difference = found ?? difference;
    return found === undefined;
  });
  const { failed, counterexample, errorInstance } = await fc.check(property, options as object);
  if (!failed) return undefined;
  return `${difference ?? String(errorInstance)}, in ${JSON.stringify(counterexample)}`;
}

const MINUTE_MICROS = 60_000_000;
const TOKEN_TICKS = 16 * MINUTE_MICROS;
const NOW_MICROS = 60 * MINUTE_MICROS;
const NOW_TICKS = 16 * NOW_MICROS;
const NOW_UNIX_MICROS = STEERED_ORIGIN_MICROS + NOW_MICROS;
const EXPIRY = NOW_UNIX_MICROS + 5 * MINUTE_MICROS;

const entry: Omit<SyncEntry, 'key'> = {
  chargeTicks: TOKEN_TICKS,
  ownLevelTicks: TOKEN_TICKS,
  returnTicks: 0,
  wantedTokens: 2,
  intervalTicks: TOKEN_TICKS,
  fitTicks: 5 * TOKEN_TICKS,
  capTicks: 6 * TOKEN_TICKS,
  floorTicks: 0,
  lost: false,
};

function callOf(keys: readonly string[], options: Partial<SyncCall> = {}): SyncCall {
  return {
    stream: `${keys[0]} stream`,
    sequence: 1,
    answeredSequence: 0,
    streamLifeMs: 1000,
    latestTicks: NOW_TICKS,
    entries: keys.map((key) => ({ ...entry, key })),
    ...options,
  };
}

const run = (server: RedisServer, source: string, call: SyncCall): Promise<unknown[]> => {
  return runSteered(server, source, NOW_MICROS, encodeSync(call));
};

const tat = (levelTicks: number): string => String(NOW_TICKS + levelTicks);

/** Values that are not buckets: of other programs, and TATs that no clock has written. */
const NOT_BUCKETS = ['hello', '12', '123', '1.5e9', '0x5760000', '9007199254740994000', `${NOW_TICKS - 61 * 16e6}000`];

let runs = 0;

export const syncChecks: Readonly<Record<string, SyncCheck>> = {
  'does what its model and its definition do': (server, source) => differenceInScenes(server, source),

  async 'leaves a key of another program as it is, and charges the others'(server, source) {
    for (const value of NOT_BUCKETS) {
      const keys = [1, 2, 3].map((place) => `broken-${runs}-${place}`);
      runs++;
      const text = `${value} ${EXPIRY}`;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await server.call('SET', keys[1]!, text);
      // oxlint-disable-next-line no-await-in-loop
      const reply = await run(server, source, callOf(keys));
      // oxlint-disable-next-line no-await-in-loop
      const left = await server.call('GET', keys[1]!);
      const expected = [1, NOW_TICKS, 1, 3 * TOKEN_TICKS, null, 3 * TOKEN_TICKS, 1, 2, 3, 2, text];
      const difference = differenceOf(`a bucket ${value}`, [...reply, left], expected);
      if (difference !== undefined) return difference;
    }
    return undefined;
  },

  async 'does the same with a key of another type'(server, source) {
    const keys = [1, 2].map((place) => `list-${runs}-${place}`);
    runs++;
    await server.call('RPUSH', keys[0]!, 'element');
    const reply = await run(server, source, callOf(keys));
    const length = await server.call('LLEN', keys[0]!);
    return differenceOf('a list', [...reply, length], [1, NOW_TICKS, 1, null, 3 * TOKEN_TICKS, 2, 2, 1]);
  },

  async 'accepts a TAT of up to 2^53 and up to a minute ago'(server, source) {
    const levels = [2 ** 53 - NOW_TICKS, -60 * 16_000_000];
    const keys = levels.map((_, i) => `edge-${runs}-${i}`);
    runs++;
    for (const [i, level] of levels.entries()) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await server.call('SET', keys[i]!, `${tat(level)}832 ${EXPIRY}`);
    }
    const entries = keys.map((key) => ({ ...entry, key, chargeTicks: 0, ownLevelTicks: undefined, wantedTokens: 0 }));
    const reply = await run(server, source, callOf(keys, { entries }));
    // 832 is the code of 2^52.
    return differenceOf('edges', reply, [1, NOW_TICKS, 1, 2 ** 52, levels[1]]);
  },

  async 'writes no bucket that it does not change'(server, source) {
    const values = [undefined, `${tat(TOKEN_TICKS)}480`, `${tat(2 ** 33)}528`];
    const keys = values.map((_, i) => `unchanged-${runs}-${i}`);
    runs++;
    // The last one is above the cap, and exactly at the level that was written.
    await server.call('SET', keys[1]!, `${values[1]} ${EXPIRY}`);
    await server.call('SET', keys[2]!, `${values[2]} ${EXPIRY}`);
    await server.call('CONFIG', 'RESETSTAT');
    const entries = keys.map((key) => ({ ...entry, key, chargeTicks: 0, ownLevelTicks: undefined, wantedTokens: 0 }));
    await run(server, source, callOf(keys, { entries }));
    // That of the clock and that of the stream.
    return differenceOf('SETs', (await server.commandCalls()).get('set'), 2);
  },

  async 'charges one token where a bucket is only a level, and what is stated of the others'(server, source) {
    const charges = [TOKEN_TICKS, 2 * TOKEN_TICKS, TOKEN_TICKS];
    const keys = charges.map((_, i) => `one-${runs}-${i}`);
    runs++;
    const entries = keys.map((key, i) => ({ ...entry, key, chargeTicks: charges[i]!, wantedTokens: 0 }));
    const call = callOf(keys, { entries });
    await run(server, source, call);
    const second = { ...call, sequence: 2, answeredSequence: 1 };
    const reply = await run(server, source, second);
    return differenceOf('levels', reply, [1, NOW_TICKS, 1, 2 * TOKEN_TICKS, 3 * TOKEN_TICKS, 2 * TOKEN_TICKS]);
  },

  async 'keeps a bucket for a second after its TAT'(server, source) {
    const levels = [-16_000_000, -15_999_999, 0];
    const keys = levels.map((_, i) => `passed-${runs}-${i}`);
    runs++;
    const entries = keys.map((key, i) => ({ ...entry, key, ownLevelTicks: levels[i]!, wantedTokens: 0 }));
    await run(server, source, callOf(keys, { entries }));
    const kept = [`${tat(-15_999_999)}000 ${NOW_UNIX_MICROS + 1000}`, `${tat(0)}000 ${NOW_UNIX_MICROS + 1_000_000}`];
    return differenceOf('stored', await server.call('MGET', ...keys), [null, ...kept]);
  },
};
