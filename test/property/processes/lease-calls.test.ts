import { TICKS_PER_MS } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { simulateLeases, type SimulatedProcesses } from '../../../scripts/processes/simulated-leases.ts';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, describe, expect, test } from 'vitest';

const PROCESSES = 4;
const MONTH_TICKS = 30 * 86_400_000 * TICKS_PER_MS;

/** The streams of the syncs that were answered. */
const synced: string[] = [];
const note = (message: unknown): unknown => synced.push((message as { stream: string }).stream);

afterEach(() => {
  unsubscribe('sluice:lease', note);
});

/** Processes with a limit that refills slowly, and the calls of the first one. */
class Scene {
  readonly #time = new FakeTime();
  readonly #processes: SimulatedProcesses;

  constructor(burst: number, overshoot: number) {
    const intervalTicks = Math.floor(MONTH_TICKS / burst);
    const limit = { burst, intervalTicks, overshoot, processes: PROCESSES };
    const simulated = simulateLeases({ ...limit, roundTripMs: 1, time: this.#time });
    if ('strictBecause' in simulated) throw new Error(simulated.strictBecause);
    this.#processes = simulated;
    subscribe('sluice:lease', note);
  }

  /** Makes a request every 0.2 ms, each for the next id, and returns the calls in 200 ms. */
  async callsOf(ids: number, ms: number, cost = 1): Promise<number> {
    synced.length = 0;
    for (let i = 0; i < 5 * ms; i++) {
      void this.#processes.spend(0, String(i % ids), cost);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#time.pass(0.2);
    }
    return (synced.filter((stream) => stream.endsWith(':0')).length * 200) / ms;
  }
}

describe('a process whose limit refills slowly', () => {
  test.each([0.1, 0.5, 1])(
    'calls Redis once in 200 ms far from the limit, with an overshoot of %d',
    async (overshoot) => {
      const scene = new Scene(1_000_000, overshoot);
      await scene.callsOf(250, 400);
      expect(await scene.callsOf(250, 1000)).toBeLessThanOrEqual(1.5);
    },
  );

  test('calls Redis as rarely for ids that it has not seen before, unless 250 of them fill a call', async () => {
    const scene = new Scene(1_000_000, 0.5);
    expect(await scene.callsOf(1e9, 1000)).toBeLessThanOrEqual(5);
  });

  test('reports within 10 ms near the limit', async () => {
    const scene = new Scene(1000, 0.5);
    // Half of the burst of one id is used.
    await scene.callsOf(1, 100);
    expect(await scene.callsOf(1, 80)).toBeGreaterThanOrEqual(10);
  });
});
