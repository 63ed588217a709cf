import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { committedResult } from '../leases/market-open/result.ts';
import { MARKET_OPEN, type Scenario } from '../leases/market-open/scenario.ts';
import { simulate, type Setup } from '../leases/market-open/simulation.ts';
import { mostDecisionsTable, outcomeTable, type Table } from '../leases/market-open/tables.ts';

const rowsOf = (page: string): string[][] =>
  readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
    .split('\n')
    .map(cellsOf);
const { simulated, measured } = committedResult();

describe('the docs have the committed result of `npm run trial -- market-open --write`', () => {
  it.each<[string, string, Table]>([
    ['measured/market-open.md', 'of the outcome', outcomeTable(simulated)],
    ['measured/market-open.md', 'of the most decisions', mostDecisionsTable(measured)],
  ])('in docs/%s, in the table %s', (page, _what, [titles, ...rows]) => {
    const rowsOfPage = rowsOf(page);
    const begin = rowsOfPage.findIndex((cells) => cells.join() === titles!.join());
    expect(rowsOfPage.slice(begin + 2, begin + 2 + rows.length)).toEqual(rows);
  });

  it('of the scenario that is simulated now', () => {
    expect(simulated.scenario).toEqual(MARKET_OPEN);
  });
});

describe('at a tenth of the market open, on a Redis that needs ten times as long', () => {
  const scenario = tenthOf(MARKET_OPEN);
  const perInterval = scenario.everyone.count / 10;
  const simulatedNow = (setup: Setup) => simulate(scenario, setup, () => undefined);
  /** What reaches the backend in each 100 ms of the last half second. */
  const admitted = (setup: Setup): number[] =>
    simulatedNow(setup)
      .intervals.slice(-5)
      .map((each) => each.admitted);

  it('strict limits that fail open let more than twice of what the backend can do through', () => {
    expect(Math.min(...admitted('open'))).toBeGreaterThan(2 * perInterval);
  });

  it('strict limits that fail closed let less than half of it through', () => {
    expect(mean(admitted('closed'))).toBeLessThan(perInterval / 2);
  });

  const leased = simulatedNow('leased');

  it('leases let between 95 and 105 % of it through, and never more than their bound', () => {
    const { intervals, overTokens } = leased;
    const share = mean(intervals.slice(-5).map((each) => each.admitted)) / perInterval;
    expect(share).toBeGreaterThan(0.95);
    expect(share).toBeLessThan(1.05);
    expect(overTokens).toBeLessThanOrEqual(scenario.everyone.overshoot * scenario.everyone.burst);
    expect(Math.max(...intervals.map(({ redisLoad }) => redisLoad))).toBeLessThan(1);
  });

  it('simulates the same twice', () => {
    const short = { ...scenario, durationMs: scenario.durationMs / 3 };
    const simulatedShort = () => simulate(short, 'leased', () => undefined);
    expect(simulatedShort()).toEqual(simulatedShort());
  });
});

function tenthOf({ rise, everyone, redis, ...scenario }: Scenario): Scenario {
  return {
    ...scenario,
    clients: scenario.clients / 10,
    rise: { ...rise, perSecond: rise.perSecond / 10, toPerSecond: rise.toPerSecond / 10, atMs: 200 },
    durationMs: 1200,
    everyone: { ...everyone, burst: everyone.burst / 10, count: everyone.count / 10 },
    redis: {
      callMicros: redis.callMicros,
      decisionMicros: 10 * redis.decisionMicros,
      bucketMicros: 10 * redis.bucketMicros,
    },
  };
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
