/** Where a call that was taken started in the virtual time of its queue, and what was before it. */
interface Taken {
  readonly start: number;
  readonly virtual: number;
  readonly finish: number;
}

/** A call as its queue knows it: also a link in the list of its key. */
export abstract class QueuedCall {
  /** Whose call it is. */
  readonly fair: string;
  priority: number;
  /** The order in which calls came. */
  readonly number: number;
  before: this | undefined = undefined;
  after: this | undefined = undefined;
  /** Set while it is taken from its queue. */
  taken: Taken | undefined = undefined;

  constructor({ fair, priority, number }: Pick<QueuedCall, 'fair' | 'priority' | 'number'>) {
    this.fair = fair;
    this.priority = priority;
    this.number = number;
  }

  /** Whether calls that came later may wait already: it may be a further try. */
  abstract get keepsPlace(): boolean;

  /** What it costs its key. */
  abstract get cost(): number;
}
