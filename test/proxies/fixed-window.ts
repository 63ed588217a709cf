/** A descriptor of a file of envoyproxy/ratelimit. */
export interface WindowDescriptor {
  readonly key: string;
  readonly value?: string;
  readonly rate_limit?: {
    readonly unit?: 'second' | 'minute' | 'hour' | 'day';
    readonly requests_per_unit?: number;
    readonly unlimited?: true;
  };
  readonly descriptors?: readonly WindowDescriptor[];
  readonly share_threshold?: true;
  readonly shadow_mode?: true;
}

type Entry = readonly [key: string, value: string];

const SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const;

/**
 * The fixed windows of envoyproxy/ratelimit, as its documentation describes them: one counter for each descriptor and
 * window, which every request adds to, whether it is allowed or not.
 */
export class FixedWindows {
  readonly #root: readonly WindowDescriptor[];
  readonly #counters = new Map<string, number>();

  constructor(root: readonly WindowDescriptor[]) {
    this.#root = root;
  }

  /** Whether a request of one hit is under the limit of its descriptor. */
  allows(entries: readonly Entry[], seconds: number): boolean {
    const found = this.#find(entries);
    const limit = found?.descriptor.rate_limit;
    if (limit === undefined || limit.unlimited === true) return true;
    const window = Math.floor(seconds / SECONDS[limit.unit!]);
    const name = JSON.stringify([found!.counter, limit.unit, window]);
    const count = (this.#counters.get(name) ?? 0) + 1;
    this.#counters.set(name, count);
    return count <= limit.requests_per_unit! || found!.descriptor.shadow_mode === true;
  }

  #find(
    entries: readonly Entry[],
  ): { readonly descriptor: WindowDescriptor; readonly counter: readonly Entry[] } | undefined {
    let level: readonly WindowDescriptor[] = this.#root;
    let descriptor: WindowDescriptor | undefined;
    const counter: Entry[] = [];
    for (const [key, value] of entries) {
      const same = level.filter((each) => each.key === key);
      descriptor =
        same.find((each) => each.value === value) ??
        same.find((each) => each.value?.endsWith('*') === true && value.startsWith(each.value.slice(0, -1))) ??
        same.find((each) => each.value === undefined);
      if (descriptor === undefined) return undefined;
      counter.push([key, descriptor.share_threshold === true ? descriptor.value! : value]);
      level = descriptor.descriptors ?? [];
    }
    return descriptor === undefined ? undefined : { descriptor, counter };
  }
}
