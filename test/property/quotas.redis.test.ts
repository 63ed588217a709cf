import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SteeredStore } from '../../packages/redis/test/support/steered-store.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { Comparison, scenes, type Scene } from './quotas.ts';
import { RUNS } from './runs.ts';

/** The server's clock at time 0 of a test. */
const JULY = Date.UTC(2026, 6, 1);
const server = await redisServer();

/** The same scene within a few years, which the clock of the script can show. */
function nearby(scene: Scene): Scene {
  return {
    ...scene,
    unit: scene.unit === 'year' ? 'day' : scene.unit,
    at: JULY + (scene.at % (365 * 86_400_000)),
    steps: scene.steps.map((step) => ({ ...step, move: step.move === 'far' ? 'over' : step.move })),
  };
}

test('in Redis a quota grants what a plain counter does', async () => {
  await fc.assert(
    fc.asyncProperty(scenes.map(nearby), async (scene) => {
      const time = new FakeTime();
      const setWall = (ms: number): void => time.set(ms - JULY);
      // The rate never denies: its clock moves with that of the quota.
      const comparison = new Comparison(scene, { store: new SteeredStore(server, time), setWall, rateBurst: 1000 });
      await comparison.run();
      expect(comparison.said).toEqual(comparison.exact);
    }),
    { numRuns: RUNS },
  );
});
