// The room rls: a request of Envoy, from message to message.
import type { Awaitable, Decision, Limiter, Time } from '@sluice/core';
import { responseTo, violatedPolicies } from '@sluice/core/http';
import { NOT_ALLOWED } from '../check/problem-answer.ts';
import { decideUses, type UsesDecided } from '../deciding/decide-uses.ts';
import { TooLargeMessage, type UnaryBody } from '../grpc/frames.ts';
import type { RequestUse } from '../deciding/use.ts';
import { reportCostOverBurst, reportUnderAllRules, type ServiceEvent } from '../metrics/event.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Snapshot } from '../files/snapshot.ts';
import type { EnvoyTable } from '../tables/table.ts';
import { descriptorStatus, strictest } from './descriptor-status.ts';
import { descriptorUses, type DescriptorUse } from './descriptor-uses.ts';
import { readRequest, type RlsRequest } from './request.ts';
import { CODE, writeResponse, type DescriptorStatus, type Metadata, type RlsResponse } from './response.ts';

/** The path of the method. */
export const SHOULD_RATE_LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

/** What the method asks of its service. */
export interface RlsParts {
  readonly limiter: Limiter;
  readonly time: Time;
  readonly snapshot: () => Snapshot;
  readonly metrics: Metrics;
  readonly emit: (event: ServiceEvent) => void;
}

/** A request that is being decided. */
interface AskedUses {
  /** Undefined for a domain that is not known. */
  readonly table: EnvoyTable | undefined;
  /** The uses of each descriptor. */
  readonly uses: readonly (readonly DescriptorUse[])[];
}

/**
 * Decides a request of Envoy, from its body to a frame. All its descriptors are one decision. Returns a value where the store
 * answers at once.
 *
 * @param within - For how many milliseconds Envoy still waits: what comes later takes nothing.
 */
export function shouldRateLimit(body: UnaryBody, within: number | undefined, parts: RlsParts): Awaitable<Buffer> {
  const { limiter, snapshot, emit } = parts;
  const request = requestIn(body);
  if (request === 'too large') return denyTooLarge(parts);
  const { domain, descriptors } = request;
  const { tables, formats } = snapshot();
  const table = tables.envoy.get(domain);
  const uses = descriptorUses(descriptors, table, { formats, onUnknown: () => reportUnderAllRules(domain, emit) });
  const decided = decideUses(limiter, uses.flat().filter(isUse), within);
  const asked = { table, uses };
  return decided instanceof Promise ? answerLater(asked, decided, parts) : answer(asked, decided, parts);
}

function requestIn(body: UnaryBody): RlsRequest | 'too large' {
  try {
    return readRequest(body.message());
  } catch (error) {
    if (error instanceof TooLargeMessage) return 'too large';
    throw error;
  }
}

/**
 * What a client writes makes a request too large, such as a path in several descriptors. An error would be no answer for
 * Envoy, which lets a request pass then, with `failure_mode_deny: false`.
 */
function denyTooLarge({ metrics }: RlsParts): Buffer {
  metrics.answered('envoy', 'invalid');
  return writeResponse({
    overallCode: CODE.overLimit,
    statuses: [],
    headers: BODY_FIELDS,
    body: NOT_ALLOWED.body,
    metadata: undefined,
  });
}

function isUse(use: DescriptorUse): use is RequestUse {
  return typeof use === 'object';
}

async function answerLater(asked: AskedUses, decided: Promise<UsesDecided>, parts: RlsParts): Promise<Buffer> {
  return answer(asked, await decided, parts);
}

function answer(asked: AskedUses, decided: UsesDecided, { time, metrics, emit }: RlsParts): Buffer {
  const { table } = asked;
  const { decision } = decided;
  const response = responseOf(asked, decided, time);
  reportCostOverBurst(decision, emit);
  const outcome =
    response.overallCode === CODE.ok ? 'allowed' : decision?.outcome === 'unavailable' ? 'unavailable' : 'denied';
  // Names of unknown domains are written by others, and there may be any number of them.
  metrics.answered(table?.countedAs ?? 'envoy', outcome);
  return writeResponse(response);
}

const NO_FIELDS: ReadonlyMap<string, string> = new Map();
const BODY_FIELDS = [
  ['Content-Type', 'application/problem+json'],
  ['Cache-Control', 'no-store'],
] as const;

function responseOf({ table, uses }: AskedUses, decided: UsesDecided, time: Time): RlsResponse {
  const statuses = uses.map((each) => strictest(each.map((use) => descriptorStatus(use, decided))));
  const isDenied = statuses.some(isOverLimit);
  const { decision } = decided;
  const response = decision === null ? undefined : responseTo(decision, { fields: table!.fields, time });
  const denial = isDenied ? (response?.denial ?? NOT_ALLOWED) : null;
  const fields = response?.fields ?? NO_FIELDS;
  return {
    overallCode: isDenied ? CODE.overLimit : CODE.ok,
    statuses,
    headers: denial === null ? fields : [...fields, ...BODY_FIELDS],
    body: denial === null ? '' : denial.body,
    metadata: decision === null ? undefined : metadataOf(decision),
  };
}

function isOverLimit({ code }: DescriptorStatus): boolean {
  return code === CODE.overLimit;
}

function metadataOf(decision: Decision): Metadata | undefined {
  const { limit, remaining, retryAfterMs, allowed } = decision;
  if (limit === null) return undefined;
  return {
    limit,
    remaining: Number.isFinite(remaining) ? remaining : 0,
    retryAfterMs,
    violatedPolicies: allowed ? [] : violatedPolicies(decision),
  };
}
