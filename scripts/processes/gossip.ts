import { fits, levelOf } from '../../packages/core/src/kit.ts';
import { TICKS_PER_MICRO } from '../../packages/core/src/store.ts';
import { partOf } from './partition.ts';
import type { Contestant, Numbers } from './contestant.ts';

/** Tokens that a process has taken, and that the others hear of. */
interface Spend {
  readonly process: number;
  readonly atMicros: number;
  readonly incrementTicks: number;
}

/** What a process knows of a bucket. */
interface View {
  tatTicks: number;
  /** How many spends of the bucket have reached the process, or were lost to it. */
  heard: number;
}

/**
 * A limit without a store: each of N processes has a token bucket with all of the limit, and takes from it what it lets
 * through itself and what the others tell it that they have let through, each request after the same delay.
 *
 * The model favours this design: nothing is lost or late but for what parts of a partition would tell each other, and a
 * bucket remembers tokens that were taken beyond its burst. If it did not, N busy processes would go on to let through N
 * times the rate.
 *
 * @see https://doi.org/10.1145/1282380.1282419 "Cloud control with distributed rate limiting", global token bucket
 */
export class Gossip implements Contestant {
  readonly #numbers: Numbers;
  /** By id, in the order of time. */
  readonly #spends = new Map<string, Spend[]>();
  /** By process and id. */
  readonly #views = new Map<string, View>();

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  decide(id: string, atMicros: number, cost: number, process: number): number | undefined {
    const { burst, intervalTicks } = this.#numbers;
    const spends = entryOf(this.#spends, id, (): Spend[] => []);
    const view = entryOf(this.#views, `${process} ${id}`, (): View => ({ tatTicks: 0, heard: 0 }));
    this.#hear(view, spends, process, atMicros);
    const [level, incrementTicks] = [levelOf(view.tatTicks, atMicros * TICKS_PER_MICRO), cost * intervalTicks];
    if (!fits(level, incrementTicks, burst * intervalTicks)) return undefined;
    const spend = { process, atMicros, incrementTicks };
    add(view, spend);
    spends.push(spend);
    return 0;
  }

  /** Adds what the others have told since the last request. */
  #hear(view: View, spends: readonly Spend[], process: number, nowMicros: number): void {
    const { delayMicros, partition } = this.#numbers;
    for (; view.heard < spends.length; view.heard++) {
      const spend = spends[view.heard]!;
      if (spend.atMicros + delayMicros > nowMicros) return;
      const [own, other] = [process, spend.process].map((each) => partOf(each, spend.atMicros, partition));
      if (spend.process !== process && own === other) add(view, spend);
    }
  }
}

function add(view: View, { atMicros, incrementTicks }: Spend): void {
  view.tatTicks = Math.max(view.tatTicks, atMicros * TICKS_PER_MICRO) + incrementTicks;
}

function entryOf<T>(map: Map<string, T>, key: string, create: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}
