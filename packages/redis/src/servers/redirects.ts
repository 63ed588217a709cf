/** The address of a server. */
interface Address {
  readonly host: string;
  readonly port: number;
}

/** Maps the addresses that servers announce to those that can be reached: `natMap` of ioredis, `nodeAddressMap` of node-redis. */
export type NatMap = Readonly<Record<string, Address>> | ((address: string) => Address | null | undefined);

/** How often one call is redirected at most. */
export const MAX_REDIRECTS = 2;

/** A redirection of a call by a node of a cluster. */
export interface Redirect {
  /**
   * True for `MOVED`: the slot has moved. False for `ASK`: the slot is being moved, and only this call is redirected.
   */
  readonly isForGood: boolean;
  readonly slot: number;
  /** `host:port` as the node announces it. An empty host means the host of that node. */
  readonly address: string;
}

const REDIRECT = /^(MOVED|ASK) (\d+) (\S*:\d+)$/;

/** Reads the redirection from the error of a call; `undefined` for other errors. */
export function redirectOf(error: unknown): Redirect | undefined {
  const [, word, slot, address] = REDIRECT.exec(messageOf(error)) ?? [];
  if (slot === undefined || address === undefined || Number(slot) >= 16_384) return undefined;
  return { isForGood: word === 'MOVED', slot: Number(slot), address };
}

function messageOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? cause.message : '';
}

/** Returns the address that this process can reach: an empty host is replaced by `host`, and the user's `natMap` is applied. */
export function reachableAddress(address: string, host: string | undefined, natMap: NatMap | null | undefined): string {
  // An IPv6 address may begin with a colon too, such as `::1`.
  const whole = /^:\d+$/.test(address) ? `${host}${address}` : address;
  const mapped = mappedAddress(whole, natMap);
  return mapped === undefined ? whole : `${mapped.host}:${mapped.port}`;
}

/** Returns what the user's `natMap` has for a `host:port`; `undefined` if it has nothing. */
export function mappedAddress(address: string, natMap: NatMap | null | undefined): Address | undefined {
  return (typeof natMap === 'function' ? natMap(address) : natMap?.[address]) ?? undefined;
}
