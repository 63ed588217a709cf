import type { ClientAddressFinder } from '../client/client-address.ts';
import { BLOCKED } from '../decision/stage.ts';
import type { EventSink } from '../events/event.ts';
import { DECISION_MAKER } from '../decision/decide.ts';
import type { CheckedFailureOptions } from '../limits/failure-options.ts';
import { OpenGate } from '../failure/open-gate.ts';
import type { StoreGate } from '../failure/store-gate.ts';
import type { GuardOfStore } from '../failure/store-guard.ts';
import type { LimitSetOptions } from '../definitions/limit-set.ts';
import type { Store } from '../store/store.ts';
import { StoreCalls } from '../store/store-calls.ts';
import type { Time } from '../time/time.ts';
import { CallerDeadlines } from './caller-deadlines.ts';
import { Blocking } from './blocking.ts';
import { Corrections } from './corrections.ts';
import { CurrentLimits } from './current-limits.ts';
import { Decider, type NotedBlocks } from './decider.ts';
import { QueuedDecisions } from './queued-decisions.ts';
import { KindParts } from './kind-parts.ts';
import type { Limiter } from './limiter.ts';
import { RaiseStage } from './raise-stage.ts';
import { Reports, type OnDecision } from './reports.ts';
import { PendingWork } from './pending-work.ts';
import { Settlements } from './settlements.ts';

/** How long a store may take to block an id at least, in milliseconds: a person waits for it, and no request. */
const BLOCK_MS = 1000;

/** The validated options of a limiter. */
export interface LimiterSetup<Request> {
  readonly set: LimitSetOptions<Request>;
  readonly store: Store;
  /** Where the program made the limiter. */
  readonly place: string;
  readonly ownsStore: boolean;
  readonly failure: CheckedFailureOptions;
  readonly overridesDeadlineMs: number;
  readonly emit: EventSink;
  readonly onDecision: OnDecision<Request> | undefined;
  readonly clientAddress: ClientAddressFinder;
  readonly trustsProxies: boolean;
  readonly time: Time;
  /** Whether costs come from data, and not from code: one that can never pass is denied, and not an error. */
  readonly costsFromData: boolean;
}

/** What a limiter consists of. */
export interface LimiterParts<Request> {
  readonly limits: CurrentLimits<Request>;
  readonly gate: StoreGate;
  readonly decider: Decider;
  readonly corrections: Corrections;
  readonly blocking: Blocking;
  readonly settlements: Settlements;
  readonly queued: QueuedDecisions;
  readonly deadlines: CallerDeadlines;
  readonly kinds: KindParts;
  readonly work: PendingWork;
  readonly reports: Reports<Request>;
}

/**
 * Creates the parts of a limiter.
 *
 * @param limiter - Passed on with its decisions.
 * @throws {SluiceError} The errors of {@link CurrentLimits}.
 */
export function partsOf<Request>(setup: LimiterSetup<Request>, limiter: Limiter<Request>): LimiterParts<Request> {
  const { set, store, place, failure, overridesDeadlineMs, emit, onDecision, time } = setup;
  const answersAtOnce = store.traits?.answersAtOnce === true;
  const calls = new StoreCalls(time, answersAtOnce);
  const work = new PendingWork(time);
  const kinds = new KindParts({
    store,
    time,
    emit,
    answersAtOnce,
    renew: (batch) => gate.run({ kind: 'renew', batch }),
    release: (batch) => work.track(gate.run({ kind: 'release', batch })),
  });
  const limits = new CurrentLimits(set, { store, place, failure, overridesDeadlineMs, emit, time, calls, kinds });
  const gate: StoreGate = answersAtOnce
    ? new OpenGate(store, calls)
    : (store.guard as GuardOfStore).make({
        store,
        failure,
        emit,
        calls,
        localStore: (tokens) => kinds.localStore(tokens),
        makes: DECISION_MAKER,
      });
  const reports = new Reports({ limiter, onDecision, emit, time });
  const corrections = new Corrections({ store, gate, limits, kinds, work, reports });
  const queued = new QueuedDecisions({
    time,
    refund: (decision) => corrections.refund(decision),
    noteLate: (decision) => void deadlines.noteDenial(decision),
  });
  const deadlines = new CallerDeadlines({
    gate,
    time,
    emit,
    giveBack(decision) {
      queued.giveBack(decision);
      void decision.release();
    },
  });
  const { raised } = limits;
  const raises = new RaiseStage({ raised, gate, limits });
  const { costsFromData } = setup;
  const blocks = store.blocks?.note === undefined ? undefined : (store.blocks as NotedBlocks);
  const decider = new Decider({ gate, raised, deadlines, reports, costsFromData, blocks });
  // The order in which a batch is decided. The store comes after the last one.
  limits.onNewParts(() => decider.use([BLOCKED, ...kinds.stages, raises], kinds.watch));
  const settlements = new Settlements({
    corrections,
    limits,
    kinds,
    emit,
    reports,
    spend: (batch) => decider.decide('spend', batch),
  });
  const blocking = new Blocking({ store, time, deadlineMs: Math.max(failure.deadlineMs, BLOCK_MS), limits, reports });
  return { limits, gate, decider, corrections, blocking, settlements, queued, deadlines, kinds, work, reports };
}
