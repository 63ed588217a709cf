import type { Decision } from '@sluice/core';
import type { Target } from '../entries/routes.ts';
import type { ReplayPass } from '../deciding/replay-pass.ts';
import { arrivalOf, type Arrivals } from '../deciding/arrivals.ts';
import type { Identity } from '../keys/client-table.ts';
import type { LoggedRequest, Second } from '../order/second.ts';
import type { LimitTally } from './limit-tally.ts';
import { Timeline } from './timeline.ts';

/** What is counted of one route. */
export interface RouteCounts {
  requests: number;
  /** One for each pass. */
  readonly denied: number[];
}

/** What one pass counts of all limits together. */
export interface TotalCounts {
  denied: number;
  deniedSuccesses: number;
  delayed: number;
  /** The most allowed requests in one second. */
  peak: number;
}

/** One pass of a replay: when requests arrive, and what decides them. */
export interface TalliedPass {
  readonly arrivals: Arrivals;
  readonly pass: ReplayPass;
}

/** Is told each decision of a pass, in the order of the log's times. For tests and comparisons. */
export type DecisionObserver = (pass: number, decision: Decision | undefined, micros: number) => void;

/** Decides the requests of a log in all passes, and counts the outcomes. */
export class Tally {
  readonly totals: TotalCounts[];
  readonly routes: RouteCounts[] = [];
  /** Requests, and denials in each pass. */
  readonly timeline: Timeline;
  requests = 0;
  peak = 0;
  firstMicros: number = Infinity;
  lastMicros: number = -Infinity;
  readonly #passes: readonly TalliedPass[];
  readonly #limits: readonly LimitTally[];
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #observe: DecisionObserver | undefined;

  constructor(
    passes: readonly TalliedPass[],
    limits: readonly LimitTally[],
    startSecond: number,
    observe?: DecisionObserver,
  ) {
    this.#passes = passes;
    this.#limits = limits;
    this.#numbers = new Map(limits.map(({ name }, i) => [name, i]));
    this.#observe = observe;
    this.timeline = new Timeline(startSecond, 1 + passes.length);
    this.#latest = passes.map(() => 0);
    this.totals = passes.map(() => ({ denied: 0, deniedSuccesses: 0, delayed: 0, peak: 0 }));
  }

  /** The latest arrival in each pass. */
  readonly #latest: number[];

  /** Decides the requests of a second. */
  add(second: Second): void {
    const { size, startMicros } = second;
    const at = startMicros / 1_000_000;
    this.requests += size;
    this.peak = Math.max(this.peak, size);
    this.firstMicros = Math.min(this.firstMicros, second.microsOf(0));
    this.lastMicros = Math.max(this.lastMicros, second.microsOf(size - 1));
    this.timeline.add(at, 0, size);
    const deniedBefore = this.totals.map(({ denied }) => denied);
    for (let i = 0; i < size; i++) this.#request(second, i, at);
    for (const [pass, total] of this.totals.entries()) {
      const denied = total.denied - deniedBefore[pass]!;
      this.timeline.add(at, 1 + pass, denied);
      total.peak = Math.max(total.peak, size - denied);
    }
  }

  // All passes of a request one after the other, while what they need of its client is in the processor's cache.
  #request(second: Second, i: number, at: number): void {
    const request = second.request(i);
    const { identity, target, micros, durationMicros } = request;
    this.#count(request);
    for (let number = 0; number < this.#passes.length; number++) {
      const { arrivals, pass } = this.#passes[number]!;
      // Requests that are spread over their second stay in the order of the log.
      const arrival = (this.#latest[number] = Math.max(this.#latest[number]!, arrivalOf(arrivals, second, i, micros)));
      const decision = pass.decide(arrival, identity, target, durationMicros);
      this.#raise(request, number, arrival);
      if (this.#observe !== undefined) this.#observe(number, decision, arrival);
      if (decision !== undefined) this.#note(decision, number, request, at);
    }
    this.#countOfDenied(request, at);
  }

  #count({ identity, target, micros }: LoggedRequest): void {
    this.#route(target).requests++;
    for (let n = 0; n < identity.length; n++) {
      const id = identity[n]!;
      if (id !== null && target.applies[n]!) this.#limits[n]!.count(id, micros, target.cost);
    }
  }

  #countOfDenied({ identity, target }: LoggedRequest, at: number): void {
    for (let n = 0; n < identity.length; n++) {
      const id = identity[n]!;
      if (id !== null && target.applies[n]!) this.#limits[n]!.mostDenied.countRequest(id.text, at);
    }
  }

  #raise({ identity, target, durationMicros }: LoggedRequest, number: number, micros: number): void {
    for (let n = 0; n < identity.length; n++) {
      const id = identity[n]!;
      if (id !== null && target.applies[n]!) this.#limits[n]!.raise(id, number, micros, target.cost, durationMicros);
    }
  }

  #note(decision: Decision, pass: number, { identity, target, status }: LoggedRequest, at: number): void {
    const { results } = decision;
    // Unlimited ids have no result. Their numbers are not those of the limit either.
    if (pass === 0 && results.length < identity.length) this.#noteMissing(decision, identity, target);
    for (let r = 0; r < results.length; r++) {
      if (pass === 0 && results[r]!.overridden) this.#noteOverridden(results[r]!.limit, identity);
    }
    const total = this.totals[pass]!;
    if (decision.allowed) {
      if (decision.delayMs > 0) this.#noteDelay(decision, pass);
      return;
    }
    const request = { isSuccess: isSuccess(status), route: target.route };
    total.denied++;
    if (request.isSuccess) total.deniedSuccesses++;
    this.#route(target).denied[pass]!++;
    for (const { allowed, limit } of results) {
      const n = this.#numbers.get(limit)!;
      if (!allowed) this.#limits[n]!.deny(identity[n]!, pass, at, request);
    }
  }

  #noteDelay({ results }: Decision, pass: number): void {
    this.totals[pass]!.delayed++;
    for (const { limit } of results) this.#limits[this.#numbers.get(limit)!]!.passes[pass]!.delayed++;
  }

  #noteOverridden(limit: string, identity: Identity): void {
    const n = this.#numbers.get(limit)!;
    this.#limits[n]!.noteOverridden(identity[n]!);
  }

  #noteMissing({ results, blocked }: Decision, identity: Identity, { applies }: Target): void {
    // A decision with a blocked id has the results of blocked ids only.
    if (blocked) return;
    for (let n = 0; n < identity.length; n++) {
      const id = identity[n]!;
      if (id === null || !applies[n]!) continue;
      const { name } = this.#limits[n]!;
      if (!results.some(({ limit }) => limit === name)) this.#limits[n]!.noteOverridden(id);
    }
  }

  #route({ route }: Target): RouteCounts {
    const known = this.routes[route];
    if (known !== undefined) return known;
    const empty = (): RouteCounts => ({ requests: 0, denied: this.totals.map(() => 0) });
    while (this.routes.length <= route) this.routes.push(empty());
    return this.routes[route]!;
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
