/** What a contender limits to. For those that count in windows the burst is the count of a window. */
export interface Rate {
  readonly burst: number;
  /** How long one token takes to come back. */
  readonly intervalMs: number;
  readonly windowMs: number;
}

interface DeciderOptions {
  readonly rate: Rate;
  /** How many limits of these numbers each decision is about. */
  readonly limits: number;
  /** The most ids that it must hold, for those that ask. */
  readonly maxKeys: number;
}

/**
 * Decides in this process, through the contender's public call or, where it has none, the one that its middleware
 * makes. A call may give a promise; one that rejects denies.
 */
export interface Decider<Answer> {
  readonly decide: (id: string) => Answer | Promise<Answer>;
  /** The same at once, where that is another call. */
  readonly decideAtOnce?: (id: string) => Answer;
  readonly allowed: (answer: Answer) => boolean;
}

export interface Contender {
  /** Whether it can give an answer, not a promise of one. */
  readonly answersAtOnce: boolean;
  /** Whether it keeps to `maxKeys`. */
  readonly bounded: boolean;
  decider(options: DeciderOptions): Decider<any>;
}
