import type { Address, NatMap } from './connection.ts';

/** Where a node of a cluster sends a call. */
export interface Redirect {
  /** The slot has moved for good (`MOVED`), or is on its way and only this call goes there (`ASK`). */
  readonly isForGood: boolean;
  readonly slot: number;
  /** `host:port`, as the node announces it; an empty host is that of the node itself. */
  readonly address: string;
}

const REDIRECT = /^(MOVED|ASK) (\d+) (\S*:\d+)$/;

/** Reads where an error sends a call, if it does. */
export function redirectOf(error: unknown): Redirect | undefined {
  const [, word, slot, address] = REDIRECT.exec(messageOf(error)) ?? [];
  if (slot === undefined || address === undefined || Number(slot) >= 16_384) return undefined;
  return { isForGood: word === 'MOVED', slot: Number(slot), address };
}

function messageOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? cause.message : '';
}

/** The address as we reach it: with the host left out it is on `host`, and the user's map of addresses is applied. */
export function reachable(address: string, host: string | undefined, natMap: NatMap | null | undefined): string {
  const whole = address.startsWith(':') ? `${host}${address}` : address;
  const mapped = typeof natMap === 'function' ? natMap(whole) : natMap?.[whole];
  return isAddress(mapped) ? `${mapped.host}:${mapped.port}` : whole;
}

function isAddress(value: Address | null | undefined): value is Address {
  return value !== undefined && value !== null;
}
