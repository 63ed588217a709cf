import type { LeaseDecision } from '../../../packages/redis/src/leases/rules/decide.ts';
import { Deployment, SECOND_TICKS, type Setting } from '../deployment.ts';

const TICKS_PER_MICRO = 16;
const CLIENTS = 100;
/** They begin within the first five. */
const SECONDS = 20;
const TOKENS = 20;
interface Client {
  readonly key: string;
  denials: number;
  /** When it came back after the first one. */
  returnedTicks: number;
}

/** Outcomes for clients that spend their burst fast, and then obey `Retry-After` for the first time. */
export interface FirstReturns {
  readonly returns: number;
  /** How often one of them was denied again. */
  readonly deniedAgain: number;
  /** The longest time from the first return to the request that passed. */
  readonly latestMs: number;
}

/**
 * Clients with a bucket each that is full at first, whose requests come to any process.
 *
 * @param gapMs - From one answer to the next request, until a client is denied.
 */
export function firstReturnsOf(setting: Setting, gapMs: number): FirstReturns {
  const deployment = new Deployment(setting);
  const { network, gateways, random } = deployment;
  let [returns, deniedAgain, latestTicks] = [0, 0, 0];

  const request = (client: Client): void => {
    const one = { keys: [client.key], tokens: [1], modes: ['check-and-spend'] } as const;
    random.pick(gateways).request(one, (decision) => decided(client, decision));
  };
  const decided = (client: Client, { outcome, retryTicks }: LeaseDecision): void => {
    const isDenied = outcome !== 'passed';
    if (client.denials === 1) {
      returns++;
      if (isDenied) deniedAgain++;
    }
    if (!isDenied && client.denials > 0) {
      latestTicks = Math.max(latestTicks, network.nowTicks - client.returnedTicks);
      return;
    }
    if (isDenied) client.denials++;
    const waitTicks = isDenied ? SECOND_TICKS * Math.ceil(retryTicks / SECOND_TICKS) : (SECOND_TICKS * gapMs) / 1000;
    if (client.denials === 1) client.returnedTicks = network.nowTicks + waitTicks;
    network.at(network.nowTicks + waitTicks, () => request(client));
  };

  for (let i = 0; i < CLIENTS; i++) {
    const startTicks = TICKS_PER_MICRO * random.whole(0, 5e6);
    network.at(startTicks, () => request({ key: `client ${i}`, denials: 0, returnedTicks: 0 }));
  }
  const refillTicks = (setting.periodMs / setting.count / 1000) * SECOND_TICKS;
  network.runUntil(SECONDS * SECOND_TICKS + TOKENS * refillTicks);
  return { returns, deniedAgain, latestMs: (1000 * latestTicks) / SECOND_TICKS };
}
