/** A call as its queue knows it: also a link in the list of its key. */
export abstract class QueuedCall {
  /** Whose call it is. */
  readonly fair: string;
  priority: number;
  /** The largest cost of its entries. */
  readonly cost: number;
  /** The order in which calls came. */
  readonly number: number;
  before: this | undefined = undefined;
  after: this | undefined = undefined;
  /** Set when it is taken from its queue, in virtual time: where it starts, and what was before it. */
  start = 0;
  virtualBefore = 0;
  finishBefore = 0;

  constructor({ fair, priority, cost, number }: Pick<QueuedCall, 'fair' | 'priority' | 'cost' | 'number'>) {
    this.fair = fair;
    this.priority = priority;
    this.cost = cost;
    this.number = number;
  }
}
