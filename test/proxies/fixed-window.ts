/** A descriptor of a file of envoyproxy/ratelimit. */
export interface WindowDescriptor {
  /** As YAML reads it: the service takes each for its text. */
  readonly key: string | number | boolean;
  readonly value?: string | number | boolean | null;
  readonly rate_limit?: WindowLimit | null;
  readonly descriptors?: readonly WindowDescriptor[] | null;
  readonly share_threshold?: boolean;
  readonly shadow_mode?: boolean;
}

/** Its limit. */
export interface WindowLimit {
  readonly unit?: string;
  readonly requests_per_unit?: number;
  readonly unlimited?: boolean;
  readonly name?: string;
  readonly replaces?: readonly { readonly name: string }[] | null;
}

export type Entry = readonly [key: string, value: string];

/** What is known of one descriptor of a request. */
export interface WindowAnswer {
  readonly isAllowed: boolean;
  /** Undefined if nothing counts it. */
  readonly limit: WindowLimit | undefined;
  readonly remaining: number;
  readonly isShadow: boolean;
}

const DAY = 86_400;
const SECONDS: Readonly<Record<string, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  year: 365 * DAY,
};
const PASSES: WindowAnswer = { isAllowed: true, limit: undefined, remaining: 0, isShadow: false };

interface Found {
  readonly descriptor: WindowDescriptor;
  readonly counter: readonly Entry[];
}

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
    return this.answers([entries], seconds)[0]!.isAllowed;
  }

  /** Returns what is known of each descriptor of a request of one hit, of which some may replace the limits of others. */
  answers(descriptors: readonly (readonly Entry[])[], seconds: number): readonly WindowAnswer[] {
    const found = descriptors.map((entries) => this.#find(entries));
    const replaced = new Set(
      found.flatMap((each) => each?.descriptor.rate_limit?.replaces ?? []).map(({ name }) => name),
    );
    return found.map((each) => {
      const limit = each?.descriptor.rate_limit ?? undefined;
      if (limit === undefined || limit.unlimited === true || replaced.has(limit.name ?? '')) return PASSES;
      return this.#counted(each!, limit, seconds);
    });
  }

  #counted({ descriptor, counter }: Found, limit: WindowLimit, seconds: number): WindowAnswer {
    const unit = limit.unit!.toLowerCase();
    const window = Math.floor(seconds / SECONDS[unit]!);
    const name = JSON.stringify([counter, unit, window]);
    const count = (this.#counters.get(name) ?? 0) + 1;
    this.#counters.set(name, count);
    const most = limit.requests_per_unit ?? 0;
    const isShadow = descriptor.shadow_mode === true;
    return { isAllowed: count <= most || isShadow, limit, remaining: Math.max(0, most - count), isShadow };
  }

  #find(entries: readonly Entry[]): Found | undefined {
    let level: readonly WindowDescriptor[] = this.#root;
    let descriptor: WindowDescriptor | undefined;
    const counter: Entry[] = [];
    for (const [key, value] of entries) {
      const same = level.filter((each) => String(each.key) === key);
      descriptor =
        same.find((each) => valueOf(each) === value) ??
        same.find((each) => valueOf(each).includes('*') && expressionOf(valueOf(each)).test(value)) ??
        same.find((each) => valueOf(each) === '');
      if (descriptor === undefined) return undefined;
      counter.push([key, descriptor.share_threshold === true ? valueOf(descriptor) : value]);
      level = descriptor.descriptors ?? [];
    }
    return descriptor === undefined ? undefined : { descriptor, counter };
  }
}

/** '' for any value. */
function valueOf({ value }: WindowDescriptor): string {
  return String(value ?? '');
}

function expressionOf(pattern: string): RegExp {
  return new RegExp(
    `^${pattern
      .split('*')
      .map((part) => part.replaceAll(/[^\w]/g, '\\$&'))
      .join('.*')}$`,
    's',
  );
}
