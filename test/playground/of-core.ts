import { createLimiter, memoryStore, type SluiceError } from '@sluice/core';
import { flowSettings, runFlow, type Exchange, type FlowOutcome, type RequestDecision } from '@sluice/core/http';
import { FakeTime } from '@sluice/core/testing';
import { definitionsOf, NAMES, type Arrival, type Case } from '../../site/playground/case.ts';
import type { Step } from '../../site/playground/core.ts';

/** What a middleware of `createLimiter` answers to the requests of a case. */
export async function stepsOfCore({ limits, arrivals }: Case): Promise<readonly Step[]> {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const limiter = createLimiter<Arrival>({ limits: definitionsOf({ limits }), store, time, log: false });
  const uses = limits.map((_, i) => ({ limit: NAMES[i]!, cost: (arrival: Arrival) => arrival.cost }));
  const settings = flowSettings<Arrival, readonly []>({ limiter, limits: uses }, []);
  const steps = arrivals.map((arrival) => {
    time.set(arrival.atMs);
    const exchange = new PlainExchange(arrival);
    return stepOf(exchange, new Promise((resolve) => resolve(runFlow(settings, exchange, []))), limits.length);
  });
  // What waits continues. No request is decided at this time.
  time.advance(3_600_000);
  const all = await Promise.all(steps);
  await limiter.close();
  return all;
}

async function stepOf(exchange: PlainExchange, outcome: Promise<FlowOutcome>, limits: number): Promise<Step> {
  const [settled] = await Promise.allSettled([outcome]);
  const denial = settled.status === 'fulfilled' ? settled.value : null;
  if (denial === 'left') throw new Error('nobody leaves');
  const { atMs, cost } = exchange.request;
  const { delayMs = 0, retryAfterMs = Infinity, results = [] } = exchange.decision ?? {};
  const left = Array.from({ length: limits }, (_, i) => {
    const result = results.find(({ limit }) => limit === NAMES[i]);
    return result === undefined ? null : { remaining: result.remaining, fullAfterMs: result.resetAfterMs };
  });
  const fields = Object.entries({ ...exchange.fields, ...denial?.fields });
  if (settled.status === 'rejected') {
    const { message } = settled.reason as SluiceError;
    return { atMs, cost, status: 400, delayMs: 0, retryAfterMs: Infinity, left, fields, body: message };
  }
  const status = denial === null ? 200 : (denial.status as 429);
  return { atMs, cost, status, delayMs, retryAfterMs, left, fields, body: denial?.body ?? '' };
}

class PlainExchange implements Exchange<Arrival> {
  readonly request: Arrival;
  readonly method = 'GET';
  readonly peer = undefined;
  readonly fields: Record<string, string> = {};
  decision: RequestDecision | undefined;

  constructor(request: Arrival) {
    this.request = request;
  }

  header(): undefined {}

  getField(name: string): string | undefined {
    return this.fields[name];
  }

  setField(name: string, value: string): void {
    this.fields[name] = value;
  }
}
