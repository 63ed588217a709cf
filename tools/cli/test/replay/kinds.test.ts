import { createLimiter, memoryStore, type Decision } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { loadWithoutKeys } from '@sluice/config';
import { describe, expect, it } from 'vitest';
import { replayed } from './decisions.ts';
import { files, logOf, NOON, pinoLine, seededRandom, type Logged } from './logs.ts';

interface Kind {
  readonly limits: string;
  readonly overrides?: string;
  /** The limits that apply to each request. */
  readonly names: readonly string[];
  readonly keys?: readonly string[];
  /** The largest distance of two requests in milliseconds. Default: 400. */
  readonly gapMs?: number;
  /** What the decisions have to show, so that the test is about the kind. */
  readonly shows: (decisions: readonly Decision[]) => boolean;
}

const some = (decisions: readonly Decision[], is: (decision: Decision) => boolean): boolean => decisions.some(is);
const IP = 'idFormat: ipAddress';

const KINDS: Record<string, Kind> = {
  'a rate': {
    limits: `A: { count: 2, period: 1s, burst: 5, ${IP} }\n`,
    names: ['A'],
    shows: (decisions) => some(decisions, ({ allowed }) => !allowed),
  },
  'a rate with leases, which the memory store decides exactly': {
    limits: `A: { count: 2, period: 1s, burst: 5, overshoot: 0.1, ${IP} }\n`,
    names: ['A'],
    shows: (decisions) => some(decisions, ({ allowed }) => !allowed),
  },
  'a rate with a debt and a bound': {
    limits: `A: { count: 2, period: 1s, burst: 5, maxDebt: 10, atMost: { 7215: 1h }, ${IP} }\n`,
    names: ['A'],
    shows: (decisions) => some(decisions, ({ allowed }) => !allowed),
  },
  'a queue': {
    limits: `A: { count: 2, period: 1s, burst: 2, maxWait: 2s, ${IP} }\n`,
    names: ['A'],
    shows: (decisions) => some(decisions, ({ delayMs }) => delayMs > 0) && some(decisions, ({ allowed }) => !allowed),
  },
  'a quota in a time zone, over two ends of its period': {
    limits: `A: { count: 20, per: month, timeZone: America/Santiago, ${IP} }\n`,
    names: ['A'],
    gapMs: 5 * 3_600_000,
    shows: (decisions) => {
      const denied = decisions.map(({ allowed }) => (allowed ? 'a' : 'd')).join('');
      return /d.*a.*d.*a/.test(denied);
    },
  },
  'limits that borrow from a pool': {
    limits: `A: { count: 1, period: 1s, burst: 2, borrow: { from: Pool, ceiling: { count: 20, period: 1s, burst: 20 } }, ${IP} }
Pool: { count: 6, period: 1s, burst: 10, idFormat: everyone }\n`,
    names: ['A'],
    shows: (decisions) =>
      some(decisions, ({ results }) => results.some(({ borrowed }) => borrowed)) &&
      some(decisions, ({ allowed }) => !allowed),
  },
  'a pool that requests also take from themselves': {
    limits: `A: { count: 3, period: 1s, burst: 4, ${IP} }\nPool: { count: 6, period: 1s, burst: 9, idFormat: everyone }\n`,
    names: ['A', 'Pool'],
    keys: ['Pool=everyone'],
    shows: (decisions) => new Set(decisions.filter(({ allowed }) => !allowed).map(({ limit }) => limit)).size === 2,
  },
  'a limit with overrides': {
    limits: `A: { count: 2, period: 1s, burst: 5, ${IP} }\nB: { count: 30, per: day, disabled: true, ${IP} }\n`,
    overrides: `- A: { count: 9, period: 1s, burst: 2, ids: [10.0.0.1] }
- A: { unlimited: true, ids: [10.0.0.2] }
- A: { blocked: true, ids: [10.0.0.3] }\n`,
    names: ['A'],
    shows: (decisions) =>
      some(decisions, ({ blocked }) => blocked) &&
      some(decisions, ({ results }) => results.length === 0) &&
      some(decisions, ({ results }) => results.some(({ overridden }) => overridden)),
  },
};

/** Requests of a few clients that come in bursts. */
function requestsWith(gapMs: number): Logged[] {
  const random = seededRandom(11);
  let ms = NOON;
  return Array.from({ length: 600 }, () => {
    ms += Math.floor(random() ** 4 * gapMs);
    return { ms, address: `10.0.0.${Math.floor(random() ** 2 * 5)}`, method: random() < 0.1 ? 'POST' : 'GET' };
  });
}

/** The decisions of a limiter that gets the requests at their times, as a server's would. */
async function decided(paths: { limits: string; overrides: string }, { names }: Kind, requests: readonly Logged[]) {
  const time = new FakeTime(NOON);
  const store = memoryStore({ time });
  const { limits, overrides } = await loadWithoutKeys({ defaults: paths.limits, overrides: paths.overrides });
  const limiter = createLimiter({ limits, overrides, store, time, log: false });
  const decisions = requests.map(({ ms, address, method }) => {
    time.set(ms);
    const cost = method === 'POST' ? 2 : 1;
    const entries = names.map((limit) => ({ limit, id: limit === 'Pool' ? 'everyone' : address, cost }));
    return limiter.spendSync(entries);
  });
  await limiter.close();
  return decisions;
}

/** What a decision shows, apart from its class. */
function figures(decision: Decision | undefined): unknown {
  return JSON.parse(JSON.stringify(decision, (_, value: unknown) => (value === Infinity ? 'Infinity' : value)));
}

describe('a replay', () => {
  it.each(Object.entries(KINDS))(
    'decides by %s as a limiter that gets the requests at their times',
    async (_, kind) => {
      const requests = requestsWith(kind.gapMs ?? 400);
      const { limits, keys = [], overrides = '[]\n' } = kind;
      const paths = files({ limits, log: logOf(pinoLine, requests), overrides });
      const { decisions, report } = await replayed(paths, { keys, costs: ['POST /=2'] });
      const expected = await decided(paths, kind, requests);
      expect(kind.shows(expected)).toBe(true);
      expect(decisions).toHaveLength(requests.length);
      for (const [i, decision] of expected.entries()) expect(figures(decisions[i])).toEqual(figures(decision));
      const denied = expected.filter(({ allowed }) => !allowed).length;
      expect(report.totals.denied).toEqual({ low: denied, high: denied });
    },
  );
});
