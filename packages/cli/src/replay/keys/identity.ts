/** The id of a client at one limit. */
export interface ClientId {
  /** The canonical id. */
  readonly text: string;
  /** Of the table of clients: see `ClientTable.rowOf`. */
  readonly hash: number;
  readonly row: number;
  /** The entry for the limiter, of cost 1. */
  readonly entry: { readonly limit: string; readonly id: string };
}

/** The ids of one request: for each limit, in their order. Null for a limit that does not apply to it. */
export type Identity = readonly (ClientId | null)[];
