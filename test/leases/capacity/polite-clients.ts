import type { LeaseDecision } from '../../../packages/redis/src/leases/rules/decide.ts';
import { Deployment, SECOND_TICKS, type Setting } from '../deployment.ts';

const TICKS_PER_MICRO = 16;
const CLIENTS = 20;
const MOST_REQUESTS = 150_000;
/** A client asks for so much more than its rate until it is denied. */
const OF_RATE = 3;

/** Outcomes for clients that obey `Retry-After`. */
export interface Retries {
  /** How often a client was denied and waited. */
  readonly waits: number;
  /** How often one of them was denied again right after. */
  readonly deniedAgain: number;
}

interface Client {
  readonly key: string;
  hasWaited: boolean;
}

/** How clients wait after a denial. */
export interface Manners {
  /** Whether they wait to the microsecond. Otherwise they wait for whole seconds, as `Retry-After` has them. */
  readonly isExact?: boolean;
  /** How much longer they wait, at least. */
  readonly idleMs?: number;
}

/**
 * Clients with a bucket each, whose requests come to any process. A client makes requests until it is denied, and then
 * waits as it was told.
 */
export function retriesOf(setting: Setting, { isExact = false, idleMs = 0 }: Manners): Retries {
  const deployment = new Deployment(setting);
  const { network, gateways, random } = deployment;
  const perSecond = (1000 * setting.count) / setting.periodMs;
  const gapTicks = SECOND_TICKS / (OF_RATE * perSecond);
  const clients = Math.max(1, Math.min(CLIENTS, Math.floor(2000 / perSecond)));
  // Until each client has waited often enough.
  const cycleSeconds = setting.burst / perSecond + 2 + idleMs / 1000;
  const seconds = Math.min(50 * cycleSeconds, MOST_REQUESTS / (perSecond * clients));
  const retries = { waits: 0, deniedAgain: 0 };

  const request = (client: Client): void => {
    const one = { keys: [client.key], tokens: [1], modes: ['check-and-spend'] } as const;
    random.pick(gateways).request(one, (decision) => decided(client, decision));
  };
  const decided = (client: Client, { outcome, retryTicks }: LeaseDecision): void => {
    const isDenied = outcome !== 'passed';
    if (client.hasWaited && isDenied) retries.deniedAgain++;
    client.hasWaited = isDenied;
    if (isDenied) retries.waits++;
    const toldTicks = isExact ? retryTicks : SECOND_TICKS * Math.ceil(retryTicks / SECOND_TICKS);
    const waitTicks = isDenied ? toldTicks + (idleMs * SECOND_TICKS) / 1000 : -Math.log(1 - random.next()) * gapTicks;
    network.at(network.nowTicks + wholeMicros(waitTicks), () => request(client));
  };

  for (let i = 0; i < clients; i++) {
    const client = { key: `client ${i}`, hasWaited: false };
    network.at(wholeMicros(random.next() * SECOND_TICKS), () => request(client));
  }
  network.runUntil(seconds * SECOND_TICKS);
  return retries;
}

function wholeMicros(ticks: number): number {
  return TICKS_PER_MICRO * Math.ceil(ticks / TICKS_PER_MICRO);
}
