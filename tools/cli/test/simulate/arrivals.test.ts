import { describe, expect, it } from 'vitest';
import type { SimulationReport } from '../../src/simulate/counting/report.ts';
import { runJson } from '../run.ts';
import { scenarioOf } from './scenario.ts';

/** When the requests arrive, in milliseconds since the first one, and when that is. */
async function arrivals(text: string, more?: string): Promise<{ firstMs: number; atMs: readonly number[] }> {
  const { clients } = (await runJson(['simulate', '-'], { stdin: scenarioOf(text, more) })) as SimulationReport;
  const { firstMs, arrivals: curve } = clients.at(0)!;
  return { firstMs, atMs: curve.flatMap(([ms, count], i) => Array<number>(count - (curve[i - 1]?.[1] ?? 0)).fill(ms)) };
}

describe('the arrivals of a scenario', () => {
  it('come in a burst, spread evenly over a time, or at once', async () => {
    expect(await arrivals('{ burst: 4, at: 5s, over: 100ms }')).toEqual({ firstMs: 5000, atMs: [0, 25, 50, 75] });
    expect(await arrivals('{ burst: 3 }')).toEqual({ firstMs: 0, atMs: [0, 0, 0] });
  });

  it('come at a rate, from a time and before another', async () => {
    expect(await arrivals('{ rate: 2, from: 1s, to: 3s }')).toEqual({ firstMs: 1000, atMs: [0, 500, 1000, 1500] });
    expect(await arrivals('{ rate: 3, per: 1m, to: 1m }')).toEqual({ firstMs: 0, atMs: [0, 20_000, 40_000] });
    expect(await arrivals('{ rate: 0, to: 1m }')).toEqual({ firstMs: 0, atMs: [] });
  });

  it('come at a rate that rises or falls evenly', async () => {
    // Up to t seconds, 2 t² requests have come.
    const rising = await arrivals('{ ramp: [0, 8], to: 2s }');
    expect(rising.atMs).toEqual(Array.from({ length: 8 }, (_, i) => Math.round(Math.sqrt(i / 2) * 1e6) / 1000));
    const falling = await arrivals('{ ramp: [8, 0], to: 2s }');
    expect(falling.atMs).toEqual(
      Array.from({ length: 8 }, (_, i) => Math.round((2 - Math.sqrt((8 - i) / 2)) * 1e6) / 1000),
    );
  });

  it('come at random, the same for the same seed, and as many as the rate gives', async () => {
    const one = await arrivals('{ poisson: 100, to: 4s }');
    expect(await arrivals('{ poisson: 100, to: 4s, seed: 1 }')).toEqual(one);
    const other = await arrivals('{ poisson: 100, to: 4s, seed: 2 }');
    expect(other).not.toEqual(one);
    // 400 with a standard deviation of 20.
    for (const { atMs } of [one, other]) expect(Math.abs(atMs.length - 400)).toBeLessThan(80);
  });

  it('come at the times of a trace in any order', async () => {
    expect(await arrivals('{ times: [2s, 1s, 1.5s] }')).toEqual({ firstMs: 1000, atMs: [0, 500, 1000] });
  });

  it('come from several sources of a client', async () => {
    expect(await arrivals('[{ burst: 1 }, { times: 3s }]')).toEqual({ firstMs: 0, atMs: [0, 3000] });
  });
});
