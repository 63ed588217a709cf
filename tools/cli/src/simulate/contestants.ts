import type { Limit } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import { UsageError } from '../console/failure.ts';
import type { Algorithm, Numbers } from './algorithms/algorithm.ts';
import { MODELS, type Model } from './algorithms/models.ts';
import { bucketOf, type SluiceLimiter } from './algorithms/sluice.ts';
import { partOf } from './partition.ts';
import type { SimulatedRequest } from './requests.ts';
import type { Scenario } from './scenario/scenario.ts';

/** Longer than a request waits for any decision. */
const LAST_MICROS = 1_000_000;

/** Decides one client's requests. */
export interface Contestant {
  readonly label: string;
  readonly algorithm: Algorithm;
  /** The microsecond at which each request continues that was allowed. */
  readonly starts: number[];
}

/** The limiter and the models: each decides all requests by itself. */
export class Contestants {
  readonly #scenario: Scenario;
  /** Clients of one limit share its model, as they share its buckets. */
  readonly #models = new Map<string, Algorithm>();
  /** By the index of the client: the limiter first. */
  readonly ofClients: readonly (readonly Contestant[])[];

  constructor(scenario: Scenario, limiter: SluiceLimiter) {
    this.#scenario = scenario;
    this.ofClients = scenario.clients.map(({ name, limits }) => {
      const own = { label: 'Sluice', algorithm: this.#reached(limiter.by(limits)), starts: [] };
      const models = scenario.compare.flatMap((kind) => MODELS.get(kind)!);
      return [own, ...models.map((model) => this.#contestant(model, comparable(limiter, name, limits)))];
    });
  }

  /** Decides requests in the order of time. */
  async decide(requests: readonly SimulatedRequest[]): Promise<void> {
    const clocked = [...this.#models.values()].filter((each) => 'advanceTo' in each);
    const advanceTo = (micros: number): Promise<unknown> => Promise.all(clocked.map((each) => each.advanceTo!(micros)));
    let nowMicros = 0;
    for (const request of requests) {
      // oxlint-disable-next-line no-await-in-loop -- one moment after the other
      if (clocked.length > 0 && request.atMicros > nowMicros) await advanceTo(request.atMicros);
      nowMicros = request.atMicros;
      this.#decideOne(request);
    }
    await advanceTo(nowMicros + LAST_MICROS);
  }

  #decideOne({ atMicros, client, id, process }: SimulatedRequest): void {
    const { cost } = this.#scenario.clients[client]!;
    for (const { algorithm, starts } of this.ofClients[client]!) {
      const note = (delayMicros: number | undefined): void => {
        if (delayMicros !== undefined) starts.push(atMicros + delayMicros);
      };
      const delayMicros = algorithm.decide(id, atMicros, cost, process);
      if (delayMicros instanceof Promise) void delayMicros.then(note);
      else note(delayMicros);
    }
  }

  /** Processes that do not reach the store deny, as with `onFailure: 'closed'`. */
  #reached(algorithm: Algorithm): Algorithm {
    const { partition } = this.#scenario;
    if (partition === undefined) return algorithm;
    return {
      decide: (id, atMicros, cost, process) => {
        return partOf(process, atMicros, partition) === 0 ? algorithm.decide(id, atMicros, cost, process) : undefined;
      },
    };
  }

  #contestant(model: Model, limit: Limit): Contestant {
    const { processes } = this.#scenario;
    const id = `${model.label} ${limit.name}`;
    const algorithm = this.#models.get(id) ?? model.create(numbersOf(limit, this.#scenario));
    this.#models.set(id, algorithm);
    const label = model.isDistributed ? `${model.label} over ${processes}` : model.label;
    return { label, algorithm: atBucketsOf(limit, algorithm), starts: [] };
  }
}

function atBucketsOf({ key }: Limit, model: Algorithm): Algorithm {
  return { decide: (id, ...rest) => model.decide(bucketOf(key.format.name, id), ...rest) };
}

/** Returns the limit of a client that models of other algorithms can be given. */
function comparable({ limits }: SluiceLimiter, client: string, names: readonly string[]): Limit {
  const limit = limits.get(names[0]!)!;
  if (names.length === 1 && limit.calendar === undefined && limit.borrow === undefined) return limit;
  const remedy = `Give the client one limit (\`limits: [${names[0]!}]\`), or leave \`compare\` out.`;
  throw new UsageError(
    `Other algorithms can be compared at one rate only, but ${client} has ${names.join(', ')}. ${remedy}`,
  );
}

function numbersOf({ rate, bounds: [bound], treatment }: Limit, scenario: Scenario): Numbers {
  const { processes, delayMicros, partition } = scenario;
  const { burst, count, periodMs, emissionIntervalTicks } = rate;
  const periodMicros = Math.round(periodMs * 1000);
  const window =
    bound === undefined
      ? { most: count, micros: periodMicros }
      : { most: bound.tokens, micros: bound.windowTicks / TICKS_PER_MICRO };
  const { overshoot } = treatment;
  return {
    burst,
    count,
    periodMicros,
    window,
    intervalTicks: emissionIntervalTicks,
    overshoot,
    processes,
    delayMicros,
    partition,
  };
}
