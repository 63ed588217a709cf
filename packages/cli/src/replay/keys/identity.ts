import type { ClientPlace } from './client-table.ts';

/** The id of a client at one limit, with its place in the table of clients. */
export interface ClientId extends ClientPlace {
  /** The canonical id. */
  readonly text: string;
}

/** The ids of one request: for each limit, in their order. Null for a limit that does not apply to it. */
export type Identity = readonly (ClientId | null)[];
