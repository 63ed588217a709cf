import { readArrivals, type Arrivals } from '../arrivals.ts';
import type { ClientPlan } from './scenario.ts';
import type { Value } from './value.ts';

/** The most requests of a simulation, which takes some seconds then. */
const MAX_REQUESTS = 500_000;
const MAX_COPIES = 10_000;
/** All tokens of the largest quota. */
const MAX_COST = 1_000_000_000_000;
const FIELDS = ['limits', 'copies', 'cost', 'arrivals'];

/**
 * Reads the clients of a scenario.
 *
 * @param names - The names of the limits. A client without `limits` has all of them.
 */
export function readClients(clients: Value, names: readonly string[]): readonly ClientPlan[] {
  const entries = [...clients.entries()];
  if (entries.length === 0) throw clients.wrong('clients by name');
  const plans = entries.map(([name, value]) => readClient(name, value, names));
  const requests = plans.reduce((sum, plan) => sum + plan.copies * about(plan.arrivals), 0);
  if (requests > MAX_REQUESTS) throw clients.wrong(`at most ${MAX_REQUESTS} requests together, not about ${requests}`);
  return plans;
}

function readClient(name: string, value: Value, names: readonly string[]): ClientPlan {
  const fields = value.fields(FIELDS);
  const arrivals = fields.get('arrivals');
  const remedy = 'For example arrivals: { burst: 200, over: 100ms }.';
  if (arrivals === undefined) throw value.wrong('a client with arrivals', remedy);
  return {
    name,
    copies: fields.get('copies')?.number({ min: 1, max: MAX_COPIES }) ?? 1,
    cost: fields.get('cost')?.number({ min: 1, max: MAX_COST }) ?? 1,
    limits:
      fields
        .get('limits')
        ?.items()
        .map((item) => nameOf(item, names)) ?? names,
    arrivals: arrivals.items().map(readArrivals),
  };
}

function nameOf(value: Value, names: readonly string[]): string {
  const name = value.text();
  if (names.includes(name)) return name;
  throw value.wrong(`one of the limits of the scenario: ${names.join(', ')}`);
}

function about(arrivals: readonly Arrivals[]): number {
  return arrivals.reduce((sum, each) => sum + each.about, 0);
}
