import { borrowTermsOf } from '@sluice/core/kinds';
import type { Limit } from '@sluice/core/kit';
import { TICKS_PER_MICRO } from '@sluice/core/store';
import { UsageError } from '../console/failure.ts';
import type { Algorithm, Numbers } from './algorithms/algorithm.ts';
import { MODELS, type Model } from './algorithms/models.ts';
import { bucketOf, type SluiceLimiter } from './algorithms/sluice.ts';
import type { Started } from './counting/client-report.ts';
import type { Scenario } from './scenario/scenario.ts';

/** Decides one client's requests. */
interface Contestant extends Started {
  readonly algorithm: Algorithm;
}

/** Returns by the index of the client what decides its requests: the limiter first, then the models. */
export function contestantsOf(
  { clients, compare }: Scenario,
  limiter: SluiceLimiter,
): readonly (readonly Contestant[])[] {
  // Clients of one limit share its model, as they share its buckets.
  const shared = new Map<string, Algorithm>();
  return clients.map(({ name, limits }) => {
    const models = compare.flatMap((kind) => MODELS.get(kind)!);
    const others = models.map((model) => contestant(model, comparable(limiter, name, limits), shared));
    return [{ label: 'Sluice', algorithm: limiter.by(limits), starts: [] }, ...others];
  });
}

function contestant(model: Model, limit: Limit, shared: Map<string, Algorithm>): Contestant {
  const id = `${model.label} ${limit.name}`;
  const algorithm = shared.get(id) ?? model.create(numbersOf(limit));
  shared.set(id, algorithm);
  return { label: model.label, algorithm: atBucketsOf(limit, algorithm), starts: [] };
}

function atBucketsOf({ key }: Limit, model: Algorithm): Algorithm {
  return { decide: (id, ...rest) => model.decide(bucketOf(key.format.name, id), ...rest) };
}

/** Returns the limit of a client that models of other algorithms can be given. */
function comparable({ limits }: SluiceLimiter, client: string, names: readonly string[]): Limit {
  const limit = limits.get(names[0]!)!;
  if (names.length === 1 && limit.periods === undefined && borrowTermsOf(limit) === undefined) return limit;
  const remedy = `Give the client one limit (\`limits: [${names[0]!}]\`), or leave \`compare\` out.`;
  throw new UsageError(
    `Other algorithms can be compared at one rate only, but ${client} has ${names.join(', ')}. ${remedy}`,
  );
}

function numbersOf({ rate: { burst, count, periodMs }, bounds: [bound] }: Limit): Numbers {
  const periodMicros = Math.round(periodMs * 1000);
  const window =
    bound === undefined
      ? { most: count, micros: periodMicros }
      : { most: bound.tokens, micros: bound.windowTicks / TICKS_PER_MICRO };
  return { burst, count, periodMicros, window };
}
