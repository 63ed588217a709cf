import type { StoreStatus } from '../failure/store-health.ts';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import type { Limit } from '../limits/limit.ts';
import type { Waiting } from '../limiter/queued-decisions.ts';
import { scheduledBy, type ScheduledCount } from '../limiter/scheduled-calls.ts';
import type { Store } from '../store/store.ts';
import type { MemoryStats } from '../store/memory/memory-stats.ts';
import { countsOf, type Counts } from './counts.ts';
import { DURATION_BOUNDS, type Histogram, type HistogramCounts } from './histogram.ts';
import { leaseCountsOf, SYNC_STATES, type LeaseCounts } from './lease-counts.ts';
import { OUTCOMES, PARTS_USED, QUEUE_BOUNDS } from './limit-tally.ts';
import { ownLevelOf } from '../limits/own-level.ts';

/** The attributes of a value. Never an id, an address or a path: there are only as many as limits and outcomes. */
export type Attributes = Readonly<Record<string, string>>;

/** A value of an instrument, as it is read. */
export interface Sample {
  readonly attributes: Attributes;
  readonly value: number | HistogramCounts;
}

/** A value that a limiter has, for metrics. */
export interface Instrument {
  /** As in OpenTelemetry: `sluice.decisions`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** As in OpenTelemetry, by UCUM: `s`, `By`, `{request}`. */
  readonly unit: string;
  readonly description: string;
  /** The names of its attributes. */
  readonly attributes: readonly string[];
  /** The upper ends of the classes of a histogram. */
  readonly bounds?: readonly number[];
  /** What several limiters and processes have together: the largest value instead of the sum. */
  readonly together?: 'largest';
  /** Its values are those of a store, which several limiters may share. */
  readonly ofStore?: true;
}

/** An instrument, and how it is read. */
export interface ReadInstrument extends Instrument {
  /** Returns its values: those that a limiter does not have are left out. */
  read(of: Readings): Iterable<Sample>;
}

/** What the instruments read of one limiter, at one time. */
export interface Readings {
  readonly counts: Counts;
  readonly limits: ReadonlyMap<string, Limit<never>>;
  readonly status: StoreStatus;
  /** What kind of store the limiter has; '' if that is not known. */
  readonly storeName: string;
  readonly waiting: ReadonlyMap<string, Waiting>;
  /** How much of each limit this process holds. */
  readonly held: ReadonlyMap<string, number>;
  /** Denials because of the deadlines of callers, by limit. */
  readonly deadlineDenials: ReadonlyMap<string, number>;
  /** The calls of its schedulers, by limit. Empty without one. */
  readonly scheduled: ReadonlyMap<string, ScheduledCount>;
  /** Only a limiter with an open memory store has it. */
  readonly memory: MemoryStats | undefined;
  /** Buckets that a memory store evicted: also of one that is closed. */
  readonly evicted: number | undefined;
  /** Only a limiter whose store leases tokens has it. */
  readonly leases: LeaseCounts | undefined;
}

/** Reads a limiter and its store. Their counts begin with the first call. */
export function readingsOf(limiter: LimiterCore<never>): Readings {
  const { store } = limiter;
  const { queued, kinds, deadlines } = limiter.inProgress;
  return {
    counts: countsOf(limiter),
    limits: limiter.limits,
    status: limiter.status(),
    storeName: store.name ?? '',
    waiting: queued.waiting(),
    held: kinds.heldByLimit(),
    deadlineDenials: deadlines.denials,
    scheduled: scheduledBy(limiter.schedulers),
    memory: readStore(() => (store as StoreInMemory).stats?.()),
    evicted: readStore(() => (store as StoreInMemory).evicted),
    leases: leaseCountsOf(store),
  };
}

type StoreInMemory = Store & { readonly stats?: () => MemoryStats; readonly evicted?: number };

/** Undefined also when the store is closed. */
function readStore<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** All instruments. What reads metrics of any kind is made from this list. */
export const INSTRUMENTS: readonly ReadInstrument[] = [
  {
    name: 'sluice.decisions',
    type: 'counter',
    unit: '{request}',
    description:
      'Decisions by the strictest limit of each. The policy is that of a failure policy, if one decided; with shadow, the request was let through whatever the decision.',
    attributes: ['limit', 'outcome', 'policy', 'shadow'],
    *read({ counts }) {
      for (const [limit, tally] of counts.byLimit)
        for (const { outcome, by, shadow, count } of tally.decided()) {
          const policy = by === 'store' ? '' : by;
          yield { attributes: { limit, outcome, policy, shadow: `${shadow}` }, value: count };
        }
    },
  },
  {
    name: 'sluice.limit.denials',
    type: 'counter',
    unit: '{request}',
    description: 'Denials by each limit that denied. With shadow, the request was let through all the same.',
    attributes: ['limit', 'kind', 'shadow'],
    *read({ counts, limits }) {
      for (const limit of new Set([...limits.keys(), ...counts.byLimit.keys()])) {
        if (limit === '') continue;
        const kind = limits.get(limit)?.kind.name ?? '';
        const { denials = 0, shadowDenials = 0 } = counts.byLimit.get(limit) ?? {};
        // Also 0: an alert on a rise compares the first denials with it.
        yield { attributes: { limit, kind, shadow: 'false' }, value: denials };
        if (shadowDenials > 0) yield { attributes: { limit, kind, shadow: 'true' }, value: shadowDenials };
      }
    },
  },
  {
    name: 'sluice.limit.near',
    type: 'counter',
    unit: '{request}',
    description:
      'Decisions after which at least this part of a bucket was used, in whole tokens: how near clients are to a limit. Above 0 are all.',
    attributes: ['limit', 'above'],
    *read({ counts }) {
      for (const [limit, tally] of counts.byLimit)
        if (limit !== '')
          for (const [i, part] of [0, ...PARTS_USED].entries())
            yield { attributes: { limit, above: `${part}` }, value: tally.reached(i - 1) };
    },
  },
  {
    name: 'sluice.tokens',
    type: 'counter',
    unit: '{token}',
    description:
      'Tokens: taken by decisions, charged, restricted or refunded after them, and lost because a charge or a refund did not reach the store.',
    attributes: ['limit', 'direction'],
    *read({ counts }) {
      for (const [limit, tally] of counts.byLimit)
        for (const direction of ['taken', 'charged', 'restricted', 'refunded', 'lost'] as const)
          if (tally[direction] > 0) yield { attributes: { limit, direction }, value: tally[direction] };
    },
  },
  {
    name: 'sluice.scheduled.waiting',
    type: 'gauge',
    unit: '{call}',
    description: 'Calls that wait in schedulers. A call with several limits counts at each.',
    attributes: ['limit'],
    *read({ scheduled }) {
      for (const [limit, { waiting }] of scheduled) yield { attributes: { limit }, value: waiting };
    },
  },
  {
    name: 'sluice.scheduled.longest',
    type: 'gauge',
    unit: 's',
    description: 'How long the oldest call that waits in a scheduler has waited.',
    attributes: ['limit'],
    together: 'largest',
    *read({ scheduled }) {
      for (const [limit, { longestMs }] of scheduled) yield { attributes: { limit }, value: longestMs / 1000 };
    },
  },
  {
    name: 'sluice.scheduled.running',
    type: 'gauge',
    unit: '{call}',
    description: 'Calls of schedulers that have begun and not ended.',
    attributes: ['limit'],
    *read({ scheduled }) {
      for (const [limit, { running }] of scheduled) yield { attributes: { limit }, value: running };
    },
  },
  {
    name: 'sluice.decision.duration',
    type: 'histogram',
    unit: 's',
    description: 'How long decisions took. Only with stores that do not answer at once.',
    attributes: ['outcome'],
    bounds: DURATION_BOUNDS,
    *read({ counts }) {
      for (const outcome of OUTCOMES) yield* samplesOf({ outcome }, counts.durations[outcome]);
    },
  },
  {
    name: 'sluice.store.failing',
    type: 'gauge',
    unit: '1',
    description: '1 while the store does not answer and the failure policies of the limits decide, otherwise 0.',
    attributes: ['store'],
    together: 'largest',
    *read({ status, storeName }) {
      yield { attributes: { store: storeName }, value: status.state === 'failing' ? 1 : 0 };
    },
  },
  {
    name: 'sluice.store.outages',
    type: 'counter',
    unit: '{outage}',
    description: 'Outages of the store that have begun.',
    attributes: ['store'],
    *read({ status, storeName }) {
      yield { attributes: { store: storeName }, value: status.outages };
    },
  },
  {
    name: 'sluice.queue.length',
    type: 'gauge',
    unit: '{request}',
    description: 'Requests of this process that wait in the queue of a limit with maxWait.',
    attributes: ['limit'],
    *read({ limits, waiting }) {
      for (const [limit, { levels }] of limits)
        if (levels.lineTicks !== undefined) yield { attributes: { limit }, value: waiting.get(limit)?.count ?? 0 };
    },
  },
  {
    name: 'sluice.queue.longest',
    type: 'gauge',
    unit: 's',
    description: 'How long the last request in the queue of a limit still has to wait.',
    attributes: ['limit'],
    together: 'largest',
    *read({ limits, waiting }) {
      for (const [limit, { levels }] of limits)
        if (levels.lineTicks !== undefined)
          yield { attributes: { limit }, value: (waiting.get(limit)?.longestMs ?? 0) / 1000 };
    },
  },
  {
    name: 'sluice.queue.wait',
    type: 'histogram',
    unit: 's',
    description: 'The delays of requests that had to wait in the queue of a limit.',
    attributes: ['limit'],
    bounds: QUEUE_BOUNDS,
    *read({ counts }) {
      for (const [limit, { waits }] of counts.byLimit) yield* samplesOf({ limit }, waits);
    },
  },
  {
    name: 'sluice.deadline.denials',
    type: 'counter',
    unit: '{request}',
    description:
      'Requests that were denied because their callers would have given up before they could begin, by the strictest limit. Counted since the limiter was made.',
    attributes: ['limit'],
    *read({ limits, deadlineDenials }) {
      for (const limit of new Set([...limits.keys(), ...deadlineDenials.keys()]))
        yield { attributes: { limit }, value: deadlineDenials.get(limit) ?? 0 };
    },
  },
  {
    name: 'sluice.slots.held',
    type: 'gauge',
    unit: '{slot}',
    description: 'Slots of concurrency limits that this process holds.',
    attributes: ['limit'],
    *read({ limits, held }) {
      for (const [limit, { kind }] of limits)
        if (kind.level === 'held') yield { attributes: { limit }, value: held.get(limit) ?? 0 };
    },
  },
  {
    name: 'sluice.load.level',
    type: 'gauge',
    unit: '1',
    description: 'The level of a load limit: 0 sheds nothing, 1 everything.',
    attributes: ['limit'],
    together: 'largest',
    *read({ limits }) {
      for (const [limit, each] of limits) {
        const level = ownLevelOf(each);
        if (level !== undefined) yield { attributes: { limit }, value: level };
      }
    },
  },
  {
    name: 'sluice.lease.syncs',
    type: 'counter',
    ofStore: true,
    unit: '{sync}',
    description:
      'Syncs of leases, by how they ended. One that Redis did not answer in time has failed, and is repeated.',
    attributes: ['state'],
    *read({ leases }) {
      for (const state of leases === undefined ? [] : SYNC_STATES)
        yield { attributes: { state }, value: leases!.durations[state].size };
    },
  },
  {
    name: 'sluice.lease.granted',
    type: 'counter',
    ofStore: true,
    unit: '{token}',
    description: 'Tokens that this process has leased.',
    attributes: [],
    *read({ leases }) {
      if (leases !== undefined) yield { attributes: {}, value: leases.granted };
    },
  },
  {
    name: 'sluice.lease.charged',
    type: 'counter',
    ofStore: true,
    unit: '{token}',
    description: 'Tokens that this process let through beyond its leases, and that a sync has charged since.',
    attributes: [],
    *read({ leases }) {
      if (leases !== undefined) yield { attributes: {}, value: leases.charged };
    },
  },
  {
    name: 'sluice.lease.duration',
    type: 'histogram',
    ofStore: true,
    unit: 's',
    description: 'How long syncs of leases took.',
    attributes: ['state'],
    bounds: DURATION_BOUNDS,
    *read({ leases }) {
      for (const state of leases === undefined ? [] : SYNC_STATES)
        yield* samplesOf({ state }, leases!.durations[state]);
    },
  },
  {
    name: 'sluice.memory.buckets',
    type: 'gauge',
    ofStore: true,
    unit: '{bucket}',
    description: 'Buckets of a limit in the memory store.',
    attributes: ['limit'],
    *read({ memory }) {
      for (const [limit, { size }] of Object.entries(memory?.limits ?? {}))
        yield { attributes: { limit }, value: size };
    },
  },
  {
    name: 'sluice.memory.evicted',
    type: 'counter',
    ofStore: true,
    unit: '{bucket}',
    description: 'Buckets with spent tokens that a full memory store evicted: their clients have full buckets again.',
    attributes: [],
    *read({ evicted }) {
      if (evicted !== undefined) yield { attributes: {}, value: evicted };
    },
  },
  {
    name: 'sluice.memory.size',
    type: 'gauge',
    ofStore: true,
    unit: 'By',
    description: 'Memory allocated for buckets.',
    attributes: [],
    *read({ memory }) {
      if (memory !== undefined) yield { attributes: {}, value: memory.bytes };
    },
  },
  {
    name: 'sluice.limit.tokens',
    type: 'gauge',
    unit: '{token}',
    description: 'The count of a limit without its overrides: tokens for each of its periods, or all slots.',
    attributes: ['limit', 'kind'],
    together: 'largest',
    *read({ limits }) {
      for (const [limit, { rate, kind }] of limits)
        if (kind.level !== 'own') yield { attributes: { limit, kind: kind.name }, value: rate.count };
    },
  },
  {
    name: 'sluice.limit.burst',
    type: 'gauge',
    unit: '{token}',
    description:
      'The burst of a limit without its overrides: tokens of a full bucket, all slots, or the count of a quota.',
    attributes: ['limit', 'kind'],
    together: 'largest',
    *read({ limits }) {
      for (const [limit, { rate, kind }] of limits)
        if (kind.level !== 'own') yield { attributes: { limit, kind: kind.name }, value: rate.burst };
    },
  },
];

function* samplesOf(attributes: Attributes, values: Histogram): Iterable<Sample> {
  if (values.size > 0) yield { attributes, value: values.counts() };
}
