import { describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import type { SimulationReport } from '../../src/simulate/counting/report.ts';
import { runJson } from '../run.ts';

/** The figures of a scenario, of the docs or of these tests, by algorithm: allowed, denied, and the most within its window. */
async function figures(name: string, client = 0): Promise<Partial<Record<string, readonly number[]>>> {
  const folder = name === 'overload' ? './scenarios/' : '../../../../docs/compared/';
  const file = fileURLToPath(new URL(`${folder}${name}.yaml`, import.meta.url));
  const { clients } = (await runJson(['simulate', file])) as SimulationReport;
  const rows = clients.at(client)!.results.map(({ algorithm, allowed, denied, mostWithin }) => {
    return [algorithm, [allowed, denied, mostWithin]] as const;
  });
  return Object.fromEntries(rows);
}

describe('the experiments of the docs', () => {
  it('let 200 of a burst of 200 through a token bucket within 100 ms, and 10 through a leaky bucket', async () => {
    expect(await figures('burst')).toEqual({
      Sluice: [200, 0, 200],
      'leaky bucket as a queue': [200, 0, 10],
      'leaky bucket as a meter': [10, 190, 10],
    });
  });

  it('let 399 of 600 in two seconds through a token bucket of 200 with 100 a second, and 200 through a leaky one', async () => {
    const { Sluice, 'leaky bucket as a meter': meter, 'leaky bucket as a queue': queue } = await figures('overload');
    expect({ Sluice, meter }).toEqual({ Sluice: [399, 201, 399], meter: [200, 400, 200] });
    expect(queue![2]).toBe(200);
  });

  it('let twice the limit through a fixed window around its edge, and not through Sluice', async () => {
    const { Sluice, 'fixed window': fixed } = await figures('window-edge');
    expect(fixed).toEqual([200, 0, 200]);
    expect(Sluice![2]).toBe(119);
  });

  it('let 199 in a minute through a sliding counter of 100, and at most 100 through `atMost`', async () => {
    const { Sluice, 'sliding-window counter': sliding } = await figures('any-minute');
    expect(sliding![2]).toBe(199);
    expect(Sluice![2]).toBe(99);
  });
});
