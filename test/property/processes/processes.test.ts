import { describe, expect, it } from 'vitest';
import { simulateProcesses, type Simulation } from '../../../scripts/processes/simulate-processes.ts';
import { tenProcesses } from '../../../scripts/processes/ten-processes.ts';
import { scenarioOf } from '../../../tools/cli/test/simulate/scenario.ts';

type Outcome = readonly [allowed: number, denied: number, lastMs: number | null];

const LEASED = '{ burst: 100, count: 100, period: 1s, overshoot: 0.1 }';

/** Allowed, denied, and when the last request continued, by client and contestant. */
async function outcomes(
  scenario: string,
  ways: Simulation['ways'],
  processes: Simulation['processes'] = {},
): Promise<Record<string, Outcome | undefined>> {
  const { clients } = await simulateProcesses({ scenario, ways, processes });
  return Object.fromEntries(
    clients.flatMap(({ client, results }) =>
      results.map(({ algorithm, allowed, denied, lastMs }) => [`${client}: ${algorithm}`, [allowed, denied, lastMs]]),
    ),
  );
}

describe('split budgets', () => {
  it('are a part of the limit for each process', async () => {
    const scenario = scenarioOf('{ rate: 10, to: 100s }');
    expect(await outcomes(scenario, ['split'], { processes: 1 })).toMatchObject({
      'app: split budgets over 1': [1000, 0, 99_900],
    });
    const [allowed = 0] = (await outcomes(scenario, ['split']))['app: split budgets over 4'] ?? [];
    expect(allowed).toBeGreaterThan(500);
    expect(allowed).toBeLessThan(1000);
  });

  it('deny requests that the whole limit allows', async () => {
    const scenario = scenarioOf(
      '[{ burst: 20 }, { rate: 10, from: 2s, to: 12s }]',
      '',
      '{ burst: 20, count: 10, period: 1s }',
    );
    const { 'app: Sluice': one, 'app: split budgets over 10': split } = await outcomes(scenario, ['split'], {
      processes: 10,
    });
    expect(one).toEqual([120, 0, 11_900]);
    expect(split![1]).toBeGreaterThan(20);
  });

  it('deny more of them where one process gets more requests than each other one', async () => {
    const scenario = scenarioOf('{ rate: 10, to: 100s }');
    const even = await outcomes(scenario, ['split'], { processes: 2 });
    const skewed = await outcomes(scenario, ['split'], { processes: 2, skew: 9 });
    // The first process gets nine tenths of the requests, and has half of the limit.
    expect(skewed['app: Sluice']).toEqual([1000, 0, 99_900]);
    const [allowed = 0] = skewed['app: split budgets over 2'] ?? [];
    expect(allowed).toBeGreaterThan(550);
    expect(allowed).toBeLessThan(650);
    expect(even['app: split budgets over 2']?.[0]).toBeGreaterThan(850);
  });
});

describe('processes with leases', () => {
  it('use the whole limit, wherever its requests arrive, and little more', async () => {
    const uneven = { processes: 4, skew: 9 };
    const within = await outcomes(scenarioOf('{ rate: 99, from: 1ms, to: 10s }', '', LEASED), ['leased'], uneven);
    expect(within['app: leases over 4']).toEqual([990, 0, expect.any(Number)]);
    const beyond = await outcomes(scenarioOf('{ rate: 500, to: 10s }', '', LEASED), ['leased'], uneven);
    const [exact = 0, leased = 0] = ['Sluice', 'leases over 4'].map((name) => beyond[`app: ${name}`]?.[0]);
    expect(exact).toBe(1099);
    expect(Math.abs(leased - exact)).toBeLessThanOrEqual(10);
  });

  it('let requests that wait for them continue, also after the last one has arrived', async () => {
    const { 'app: leases over 4': leased } = await outcomes(scenarioOf('{ burst: 40 }', '', LEASED), ['leased']);
    expect(leased).toEqual([40, 0, expect.any(Number)]);
    // They wait for the answer of Redis, and not for 50 ms, the longest time.
    expect(leased![2]).toBeGreaterThanOrEqual(1);
    expect(leased![2]).toBeLessThan(20);
  });

  it('deny almost nothing of what the whole limit allows and split budgets deny, when one process gets most', async () => {
    const [app, crawler] = (await tenProcesses()).clients;
    const [exact, split, leased] = app!.results;
    expect(exact).toMatchObject({ algorithm: 'Sluice', allowed: 1200, denied: 0, mostWithin: 200 });
    expect(split!.denied).toBeGreaterThan(240);
    // How many tokens lie in leases when the bucket gets empty is chance: 0 to 29 in bursts of 80 to 200 ms.
    expect(leased!.denied).toBeLessThan(split!.denied / 10);
    expect(crawler!.results[0]).toMatchObject({ allowed: 1199, denied: 1801, mostWithin: 299 });
    // The overshoot is 20 tokens.
    expect(crawler!.results[2]!.mostWithin).toBeLessThanOrEqual(299 + 20);
  });

  it.each([
    [scenarioOf('{ burst: 1 }'), 'it has no `overshoot`. Give it'],
    [
      scenarioOf('{ burst: 1 }', '', '{ burst: 30, count: 10, period: 1s, overshoot: 0.1 }'),
      'each of the 4 processes needs one',
    ],
  ])('need a limit with an overshoot that suffices for them', async (scenario, message) => {
    await expect(outcomes(scenario, ['leased'])).rejects.toThrow(message);
  });
});

describe('processes with gossip', () => {
  it('use the limit once each until they know of the others, after 100 ms or `delayMicros`', async () => {
    const scenario = scenarioOf('{ burst: 80, over: 80ms }', '', '{ count: 10, period: 1s }');
    const usual = await outcomes(scenario, ['gossip']);
    expect(usual['app: Sluice']?.[0]).toBe(10);
    expect(usual['app: gossip over 4']?.[0]).toBe(40);
    // After 25 ms a process has let 6 through itself, and has heard of 4 of the first 5 ms.
    const soon = await outcomes(scenario, ['gossip'], { delayMicros: 20_000 });
    expect(soon['app: gossip over 4']?.[0]).toBe(25);
    const atOnce = await outcomes(scenario, ['gossip'], { delayMicros: 0 });
    expect(atOnce['app: gossip over 4']).toEqual(atOnce['app: Sluice']);
  });

  it('let the limit through in each part of a network, and a store in one', async () => {
    const given = { partition: { parts: 2, fromMicros: 0, toMicros: 3_000_000 } };
    const at = (arrivals: string) => outcomes(scenarioOf(arrivals, '', LEASED), ['gossip', 'leased'], given);
    const parted = await at('{ rate: 600, to: 3s }');
    expect(parted['app: Sluice']?.[0]).toBe(399);
    expect(parted['app: gossip over 4']?.[0]).toBeGreaterThanOrEqual(2 * 399);
    expect(parted['app: leases over 4']?.[0]).toBeLessThanOrEqual(399 + 10);
    // Half of a client that keeps to the limit arrives at the part without the store.
    const modest = await at('{ rate: 90, to: 3s }');
    expect(modest['app: gossip over 4']?.[1]).toBe(0);
    for (const name of ['Sluice', 'leases over 4']) {
      const [allowed = 0, denied = 0] = modest[`app: ${name}`] ?? [];
      expect(Math.abs(allowed - denied)).toBeLessThan(60);
    }
    const after = await at('{ rate: 90, from: 4s, to: 6s }');
    expect(Object.values(after).map((outcome) => outcome?.[1])).toEqual([0, 0, 0]);
  });
});
