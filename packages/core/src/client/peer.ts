import type { IpAddress } from '../ids/ip-address.ts';

/**
 * The peer of a connection: its address, or `unix` for a unix socket. `left`: the client disconnected before its
 * address was read. `undefined`: the server gives no address.
 */
export type Peer = IpAddress | 'unix' | 'left' | undefined;

/** What is used of a request to find its client. */
export interface AddressedRequest {
  /** Once it was read, it must stay known: some servers forget the address of a client that has disconnected. */
  readonly peer: Peer;
  /**
   * Returns a header field of the request; several lines of one field are joined with commas. `undefined` when the
   * request does not have it.
   *
   * @param name - In lower case.
   */
  header(name: string): string | undefined;
}
