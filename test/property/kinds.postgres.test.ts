import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { postgresServer } from '../postgres/postgres-server.ts';
import { steeredDatabase } from '../postgres/steered-database.ts';
import { SteeredPostgres } from '../postgres/steered-store.ts';
import { running } from '../redis/servers/running.ts';
import { mixedRun, mixedSteps } from './mixed-batches.ts';
import { Comparison, scenes, type Scene } from './quotas.ts';
import { atMost } from './runs.ts';
import { SlotComparison, slotSteps } from './slots.ts';

/** The database's clock at time 0 of a test. */
const JULY = Date.UTC(2026, 6, 1);
const MOST_BACK_MS = 100_000;
const database = await running.leftRunning(async () => steeredDatabase(await postgresServer()));

// Few inputs and few steps, because each step takes several statements.
const numRuns = atMost(25);

/** The same scene within a few years, which ticks can count. */
function nearby(scene: Scene): Scene {
  return {
    ...scene,
    unit: scene.unit === 'year' ? 'day' : scene.unit,
    at: JULY + (scene.at % (365 * 86_400_000)),
    steps: scene.steps.slice(0, 20).map((step) => ({ ...step, move: step.move === 'far' ? 'over' : step.move })),
  };
}

test('in PostgreSQL a quota grants what a plain counter does', async () => {
  await fc.assert(
    fc.asyncProperty(scenes.map(nearby), async (scene) => {
      const time = new FakeTime();
      const setWall = (ms: number): void => time.set(ms - JULY);
      const store = new SteeredPostgres(database, time);
      const comparison = new Comparison(scene, { store, setWall, rateBurst: 1000 });
      await comparison.run();
      expect(comparison.said).toEqual(comparison.exact);
    }),
    { numRuns },
  );
});

test('in PostgreSQL slots are held as in a plain map', async () => {
  await fc.assert(
    fc.asyncProperty(slotSteps(15), async (steps) => {
      const time = new FakeTime();
      const comparison = new SlotComparison(new SteeredPostgres(database, time), time, MOST_BACK_MS);
      await comparison.run(steps);
      expect(comparison.said).toEqual(comparison.exact);
    }),
    { numRuns },
  );
});

test('in PostgreSQL a batch of all kinds of limits takes from all buckets or from none', async () => {
  await fc.assert(
    fc.asyncProperty(mixedSteps(6), async (steps) => {
      const time = new FakeTime();
      const { seen, exact } = await mixedRun(steps, new SteeredPostgres(database, time), time);
      expect(seen).toEqual(exact);
    }),
    { numRuns },
  );
});
