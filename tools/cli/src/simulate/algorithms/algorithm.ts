/** Decides requests in the order of time. */
export interface Algorithm {
  /**
   * Decides a request.
   *
   * @param id - Whose request it is: each id has its own limit.
   * @param atMicros - When it arrives, not before the request that was decided last.
   * @param cost - A whole number of tokens.
   * @returns How long it has to wait before it continues, in microseconds; undefined if it is denied.
   */
  decide(id: string, atMicros: number, cost: number): number | undefined;
}

/** The numbers of a limit, for models of other algorithms. */
export interface Numbers {
  readonly burst: number;
  readonly count: number;
  readonly periodMicros: number;
  /** What a window allows: the first `atMost` of the limit, otherwise its count and period. */
  readonly window: { readonly most: number; readonly micros: number };
}
