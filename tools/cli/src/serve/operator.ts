import { SluiceError, type Limiter, type Store } from '@sluice/core';
import type { StoreBlock } from '@sluice/core/store';
import type { OperatorAnswer, Service } from '@sluice/serve';
import { CommandError, UsageError } from '../console/failure.ts';
import { jsonText } from '../console/json-text.ts';
import { MAX_REPLY_BYTES } from '../console/reply.ts';
import { bucketsOf, canonicalName, type BucketSource } from '../limits/bucket-source.ts';
import type { BlockCall, BucketCall, RecordCall } from '../limits/served-at.ts';
import { checkedLimiter, type OpenLimits } from '../redis/open-limits.ts';
import type { RecordLog } from '../redis/record-log.ts';
import { callOf } from './operator-call.ts';

/** How long a call waits for the store. */
const DEADLINE_MS = 2000;

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
  return asked.what === 'record' ? added(asked, parts) : byLimits(asked, parts);
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

async function byLimits(
  asked: BucketCall | BlockCall,
  { service, store, log }: OperatorParts,
): Promise<OperatorAnswer> {
  const { definitions } = service;
  const { limiter, check } = limiterOfService(definitions, store);
  try {
    if (asked.version !== 1) return await ofBlocks(asked, limiter, { service, log });
    // So that it knows the blocks that other processes have made.
    if (asked.what === 'look') await limiter.ready({ timeoutMs: DEADLINE_MS });
    const result = await ofBucket(asked, bucketsOf(definitions, { limiter, keyOptions: {}, check }));
    if (asked.what !== 'look') log(lineOf(asked.what, asked.limit));
    return answered(200, result);
  } catch (error) {
    if (error instanceof UsageError) return answered(400, { message: error.message });
    if (!(error instanceof SluiceError)) throw error;
    return answered(error.kind === 'store' ? 503 : 400, { code: error.code, message: error.message });
  } finally {
    await limiter.close();
  }
}

async function ofBucket({ what, limit, id, cost }: BucketCall, buckets: BucketSource): Promise<unknown> {
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

async function ofBlocks(
  { what, entry }: BlockCall,
  limiter: Limiter,
  { service, log }: Pick<OperatorParts, 'service' | 'log'>,
): Promise<OperatorAnswer> {
  if (what === 'name') return answered(200, canonicalName(limiter, service.definitions, entry));
  if (what === 'blocked') return listed(await limiter.blocked(entry.limit));
  const blocks = await (what === 'block' ? limiter.block([entry]) : limiter.unblock([entry]));
  log(lineOf(what, entry.limit));
  return answered(200, { blocks, isInMemory: limiter.store.blocks?.note === undefined });
}

/** Answers with no more than what a command reads. */
function listed(blocks: readonly StoreBlock[]): OperatorAnswer {
  const body = JSON.stringify({ blocks });
  if (Buffer.byteLength(body) <= MAX_REPLY_BYTES) return { status: 200, body };
  const message = 'The service has more blocks than fit into one answer. Name a limit, or the store of the service.';
  return answered(400, { message });
}

function lineOf(what: string, limit: string): string {
  return `Sluice: an operator called ${what} for ${limit}`;
}

function answered(status: number, body: unknown): OperatorAnswer {
  return { status, body: jsonText(body) };
}

/**
 * Opens the limits of a service on its store: another limiter, because that of the service decides by its failure policies while
 * the store does not answer. Close it.
 */
function limiterOfService(
  { limits, overrides }: Service['definitions'],
  store: Store,
): Pick<OpenLimits, 'limiter' | 'check'> {
  const closed = Object.entries(limits).map(([name, limit]) => [name, { ...limit, onFailure: 'closed' }]);
  const options = { limits: Object.fromEntries(closed) as typeof limits, overrides, store: sameBuckets(store) };
  return checkedLimiter(options, DEADLINE_MS);
}

/**
 * Returns a store as another object. Two limiters on one object must have limits of one shape, so a reload of the service could
 * be rejected during a call. It does not compare numbers with other services.
 */
function sameBuckets(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'otherNumbers') return undefined;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}
