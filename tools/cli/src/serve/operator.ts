import { createLimiter, SluiceError, type LimiterEvent, type Store } from '@sluice/core';
import type { OperatorAnswer, Service } from '@sluice/serve';
import { CommandError, UsageError } from '../console/failure.ts';
import { jsonText } from '../console/json-text.ts';
import { bucketsOf, type BucketSource } from '../limits/bucket-source.ts';
import { recordIn } from '../limits/records.ts';
import { OPERATOR_VERSION, type BucketCall, type RecordCall } from '../limits/served-buckets.ts';
import type { RecordLog } from '../redis/record-log.ts';

/** How long a call waits for the store. */
const DEADLINE_MS = 2000;

const MAX_COST = 1_000_000_000_000;

/** The parts of {@link operate}. */
export interface OperatorParts {
  readonly service: Pick<Service, 'definitions'>;
  /** That of the service. */
  readonly store: Store;
  /** Opens the log in Redis; undefined if the store is another one. */
  readonly records: (() => Pick<RecordLog, 'check' | 'add' | 'close'>) | undefined;
  /** Receives a line for each change, without its id. */
  readonly log: (line: string) => void;
}

/** Answers the call of an operator by the limits and the store of a service. */
export async function operate(request: unknown, parts: OperatorParts): Promise<OperatorAnswer> {
  const asked = callOf(request);
  if (typeof asked === 'string') return answered(400, { message: asked });
  return asked.what === 'record' ? added(asked, parts) : ofBucket(asked, parts);
}

async function added({ record }: RecordCall, { records }: OperatorParts): Promise<OperatorAnswer> {
  if (records === undefined) {
    return answered(400, { message: 'The log is a stream in Redis, and the service has none. Use --audit.' });
  }
  const opened = records();
  try {
    await (record === '' ? opened.check() : opened.add(record));
    return answered(200, {});
  } catch (error) {
    if (error instanceof CommandError) return answered(503, { message: error.message });
    throw error;
  } finally {
    opened.close();
  }
}

async function ofBucket(asked: BucketCall, { service, store, log }: OperatorParts): Promise<OperatorAnswer> {
  const { definitions } = service;
  const failures: unknown[] = [];
  const onEvent = (event: LimiterEvent): void => {
    if ('cause' in event && event.type !== 'store-failing') failures.push(event.cause);
  };
  // Of its own, because that of the service decides by its failure policies while the store does not answer.
  const { overrides } = definitions;
  const limits = Object.entries(definitions.limits).map(([name, limit]) => [name, { ...limit, onFailure: 'closed' }]);
  const limiter = createLimiter({
    limits: Object.fromEntries(limits) as typeof definitions.limits,
    overrides,
    store: sameBuckets(store),
    trustedProxies: [],
    failure: { deadlineMs: DEADLINE_MS, onFailure: 'closed' },
    log: false,
    onEvent,
  });
  const check = (): void => {
    if (failures.length > 0) throw failures[0];
  };
  try {
    const result = await executed(asked, bucketsOf(definitions, { limiter, keyOptions: {}, check }));
    if (asked.what !== 'look') log(`Sluice: an operator made a ${asked.what} of ${asked.limit}`);
    return answered(200, result);
  } catch (error) {
    if (error instanceof UsageError) return answered(400, { message: error.message });
    if (!(error instanceof SluiceError)) throw error;
    return answered(error.kind === 'store' ? 503 : 400, { code: error.code, message: error.message });
  } finally {
    await limiter.close();
  }
}

async function executed({ what, limit, id, cost }: BucketCall, buckets: BucketSource): Promise<unknown> {
  const name = { limit, id };
  if (what === 'look') return { figures: await buckets.figures(name, cost), rate: await buckets.rate(name) };
  const { limiter, check } = buckets;
  if (what === 'reset') {
    await limiter.reset([name]);
    return { states: [] };
  }
  const states = await limiter[what]([{ ...name, cost }]);
  check();
  return { states };
}

/** Returns a call; what is wrong if it is none. */
function callOf(request: unknown): BucketCall | RecordCall | string {
  const { version, what, limit, id, cost, record } = (request ?? {}) as Readonly<Record<string, unknown>>;
  if (version !== OPERATOR_VERSION)
    return `The service answers calls of version ${OPERATOR_VERSION}. Use the same version of sluice on both sides.`;
  if (what === 'record') {
    const isRecord = typeof record === 'string' && (record === '' || recordIn(record) !== undefined);
    return isRecord ? { version, what, record } : 'The call is malformed.';
  }
  const isKnown = what === 'look' || what === 'charge' || what === 'refund' || what === 'reset';
  const isCost = Number.isSafeInteger(cost) && (cost as number) >= 1 && (cost as number) <= MAX_COST;
  if (!isKnown || typeof limit !== 'string' || typeof id !== 'string' || !isCost) return 'The call is malformed.';
  return { version, what, limit, id, cost: cost as number };
}

function answered(status: number, body: unknown): OperatorAnswer {
  return { status, body: jsonText(body) };
}

/**
 * Returns a store as another object. Two limiters on one object must have limits of one shape, so a reload of the service could
 * be rejected during a call. It neither closes the store nor compares numbers with other services.
 */
function sameBuckets(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'close') return () => {};
      if (name === 'otherNumbers') return undefined;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}
