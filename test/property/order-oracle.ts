/** What an oracle needs of a call. Times are whole milliseconds. */
export interface OracleCall {
  readonly number: number;
  readonly costs: Readonly<Record<string, number>>;
  readonly fair: string;
  readonly withinMs: number;
  priority: number;
}

/** How a bucket is limited: a rate with a burst, or slots. */
export type OracleLimit = { readonly burst: number; readonly everyMs: number } | { readonly slots: number };

interface Waiting extends OracleCall {
  readonly cameMs: number;
  readonly lane: OracleLane;
}

interface Queue {
  virtual: number;
  readonly keys: Map<string, { start: number; finish: number; leftMs: number; calls: Waiting[] }>;
}

interface OracleLane {
  readonly buckets: readonly string[];
  readonly queues: Map<number, Queue>;
  wakeMs: number | undefined;
  knownMs: number;
  misses: number;
}

/** What became of a call, and when. */
export interface Outcome {
  readonly number: number;
  readonly what: string;
  readonly atMs: number;
}

/**
 * The order of a scheduler in its plainest form: lists that are searched from the beginning, on limits of its own. `random` of
 * the scheduler has to be a half always.
 */
export class OrderOracle {
  readonly outcomes: Outcome[] = [];
  readonly #limits: Readonly<Record<string, OracleLimit>>;
  readonly #aheadMs: number;
  readonly #full = new Map<string, number>();
  readonly #held = new Map<string, number>();
  readonly #lanes = new Map<string, OracleLane>();
  readonly #blocks = new Map<string, { call: Waiting; untilMs: number }>();
  #waiting: Waiting[] = [];
  #nowMs = 0;

  constructor(limits: Readonly<Record<string, OracleLimit>>, aheadMs: number) {
    this.#limits = limits;
    this.#aheadMs = aheadMs;
  }

  arrive(call: OracleCall): void {
    const lane = this.#laneOf(Object.keys(call.costs).toSorted());
    const waiting = { ...call, cameMs: this.#nowMs, lane };
    const first = this.#firstOf(lane);
    this.#insert(waiting);
    this.#waiting.push(waiting);
    this.#changed(lane, first);
    if (lane.wakeMs !== undefined && lane.knownMs > this.#nowMs + call.withinMs) this.#fail(waiting);
    this.#dispatch();
  }

  /** The work of a call has ended. */
  end({ costs }: OracleCall): void {
    const slots = Object.keys(costs).filter((name) => 'slots' in this.#limits[name]!);
    for (const name of slots) this.#held.set(name, this.#held.get(name)! - costs[name]!);
    if (slots.length > 0)
      for (const lane of this.#lanes.values()) if (lane.buckets.some((name) => name in costs)) this.#wake(lane);
    this.#dispatch();
  }

  restrict(name: string, forMs: number): void {
    const { burst, everyMs } = this.#limits[name] as { burst: number; everyMs: number };
    const levelMs = (burst - 1) * everyMs + forMs;
    this.#full.set(name, Math.max(this.#full.get(name) ?? 0, this.#nowMs + levelMs));
  }

  /** Moves the time to the next millisecond. */
  pass(): void {
    const nowMs = (this.#nowMs += 1);
    for (const call of this.#waiting) {
      if (nowMs === call.cameMs + call.withinMs) this.#fail(call);
      else if (nowMs === call.cameMs + call.withinMs / 2 && call.priority < 10) this.#promote(call);
    }
    for (const lane of this.#lanes.values()) if (lane.wakeMs !== undefined && lane.wakeMs <= nowMs) this.#wake(lane);
    if (this.#waiting.some(({ lane }) => lane.wakeMs === undefined)) this.#dispatch();
  }

  #dispatch(): void {
    for (;;) {
      const ready = [...this.#lanes.values()].filter(({ wakeMs }) => wakeMs === undefined);
      const firsts = ready.map((lane) => this.#firstOf(lane)).filter((call) => call !== undefined);
      const [next] = firsts.toSorted((one, other) => other.priority - one.priority || one.number - other.number);
      if (next === undefined) return;
      this.#ask(next);
    }
  }

  #ask(call: Waiting): void {
    const { lane } = call;
    const blocks = lane.buckets.flatMap((name) => this.#blocks.get(name) ?? []);
    const block = blocks.find((each) => each.untilMs > this.#nowMs && this.#isBefore(each.call, call));
    if (block !== undefined) {
      lane.knownMs = 0;
      lane.wakeMs = block.untilMs;
      return;
    }
    const waits = Object.entries(call.costs).map(([name, cost]) => ({ name, ...this.#waitAt(name, cost, call) }));
    if (waits.every(({ fits }) => fits)) return this.#pass(call, Math.max(...waits.map(({ delayMs }) => delayMs)));
    this.#deny(
      call,
      waits.filter(({ fits }) => !fits),
    );
  }

  #isBefore(blocking: Waiting, call: Waiting): boolean {
    if (!this.#waiting.includes(blocking) || blocking.lane === call.lane) return false;
    return blocking.priority > call.priority || (blocking.priority === call.priority && blocking.number < call.number);
  }

  #waitAt(
    name: string,
    cost: number,
    call: Waiting,
  ): { fits: boolean; delayMs: number; waitMs: number; isHeld: boolean } {
    const limit = this.#limits[name]!;
    if ('slots' in limit) {
      const fits = (this.#held.get(name) ?? 0) + cost <= limit.slots;
      return { fits, delayMs: 0, waitMs: 0, isHeld: true };
    }
    const levelMs = Math.max(0, (this.#full.get(name) ?? 0) - this.#nowMs);
    const delayMs = Math.max(0, levelMs + (cost - limit.burst) * limit.everyMs);
    const aheadMs = Math.min(this.#aheadMs, call.cameMs + call.withinMs - this.#nowMs);
    return { fits: delayMs <= aheadMs, delayMs, waitMs: delayMs - aheadMs, isHeld: false };
  }

  #pass(call: Waiting, delayMs: number): void {
    for (const [name, cost] of Object.entries(call.costs)) {
      const limit = this.#limits[name]!;
      if ('slots' in limit) this.#held.set(name, (this.#held.get(name) ?? 0) + cost);
      else this.#full.set(name, Math.max(this.#full.get(name) ?? 0, this.#nowMs) + cost * limit.everyMs);
    }
    const queue = call.lane.queues.get(call.priority)!;
    const key = queue.keys.get(call.fair)!;
    queue.virtual = key.start;
    key.start += Math.max(...Object.values(call.costs));
    key.finish = key.start;
    this.#remove(call);
    call.lane.misses = 0;
    this.outcomes.push({ number: call.number, what: 'begins', atMs: this.#nowMs + delayMs });
  }

  #deny(call: Waiting, denials: readonly { name: string; waitMs: number; delayMs: number; isHeld: boolean }[]): void {
    const { lane } = call;
    const rates = denials.filter(({ isHeld }) => !isHeld);
    const waitMs = Math.max(0, ...rates.map((each) => each.waitMs));
    const beginsMs = Math.max(0, ...rates.map((each) => each.delayMs));
    if (beginsMs > call.cameMs + call.withinMs - this.#nowMs) return this.#fail(call);
    const isHeld = rates.length < denials.length;
    lane.misses = isHeld ? lane.misses + 1 : 0;
    const lookMs = 10 + (Math.min(250, 10 * 2 ** lane.misses) - 10) / 2;
    const wake = Math.max(rates.length === 0 ? 0 : waitMs + this.#aheadMs / 2, isHeld ? lookMs : 0);
    lane.wakeMs = this.#nowMs + Math.min(1000, wake);
    lane.knownMs = this.#nowMs + beginsMs;
    for (const { name } of denials) this.#blocks.set(name, { call, untilMs: lane.wakeMs });
  }

  #fail(call: Waiting): void {
    const first = this.#firstOf(call.lane);
    this.#remove(call);
    this.outcomes.push({ number: call.number, what: 'within', atMs: this.#nowMs });
    this.#changed(call.lane, first);
  }

  #promote(call: Waiting): void {
    const first = this.#firstOf(call.lane);
    const key = call.lane.queues.get(call.priority)!.keys.get(call.fair)!;
    this.#dequeue(key, call);
    call.priority = 10;
    this.#insert(call);
    this.#changed(call.lane, first);
  }

  #changed(lane: OracleLane, first: Waiting | undefined): void {
    if (lane.wakeMs !== undefined && this.#firstOf(lane) !== first) this.#wake(lane);
  }

  #wake(lane: OracleLane): void {
    lane.wakeMs = undefined;
    for (const [name, { call }] of this.#blocks) if (call.lane === lane) this.#blocks.delete(name);
  }

  #firstOf({ queues }: OracleLane): Waiting | undefined {
    const priorities = [...queues.keys()].toSorted((one, other) => other - one);
    for (const priority of priorities) {
      const keys = [...queues.get(priority)!.keys.values()].filter(({ calls }) => calls.length > 0);
      const [key] = keys.toSorted(
        (one, other) => one.start - other.start || one.calls[0]!.number - other.calls[0]!.number,
      );
      if (key !== undefined) return key.calls[0];
    }
    return undefined;
  }

  #insert(call: Waiting): void {
    const { queues } = call.lane;
    const queue = queues.get(call.priority) ?? { virtual: 0, keys: new Map() };
    queues.set(call.priority, queue);
    const key = queue.keys.get(call.fair) ?? { start: 0, finish: 0, leftMs: -Infinity, calls: [] };
    queue.keys.set(call.fair, key);
    if (key.calls.length === 0) {
      const isForgotten = this.#nowMs - key.leftMs >= 1000;
      key.start = isForgotten ? queue.virtual : Math.max(queue.virtual, key.finish);
    }
    key.calls.push(call);
  }

  #remove(call: Waiting): void {
    this.#waiting = this.#waiting.filter((each) => each !== call);
    this.#dequeue(call.lane.queues.get(call.priority)!.keys.get(call.fair)!, call);
  }

  #dequeue(key: { calls: Waiting[]; leftMs: number }, call: Waiting): void {
    key.calls = key.calls.filter((each) => each !== call);
    if (key.calls.length === 0) key.leftMs = this.#nowMs;
  }

  #laneOf(buckets: readonly string[]): OracleLane {
    const key = buckets.join();
    const lane = this.#lanes.get(key) ?? { buckets, queues: new Map(), wakeMs: undefined, knownMs: 0, misses: 0 };
    this.#lanes.set(key, lane);
    return lane;
  }
}
