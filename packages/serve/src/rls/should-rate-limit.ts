import type { Decision, Limiter } from '@sluice/core';
import { responseTo } from '@sluice/core/http';
import { timeOf } from '@sluice/core/kit';
import { NOT_ALLOWED } from '../check/problem-answer.ts';
import { decideUses, type UsesDecided } from '../deciding/decide-uses.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Snapshot } from '../files/snapshot.ts';
import type { EnvoyTable } from '../tables/table.ts';
import { descriptorStatus } from './descriptor-status.ts';
import { descriptorUses, type DescriptorUse } from './descriptor-uses.ts';
import { readRequest } from './request.ts';
import { CODE, writeResponse, type DescriptorStatus, type Metadata, type RlsResponse } from './response.ts';

/** The path of the method. */
export const SHOULD_RATE_LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';

/** What the method asks of its service. */
export interface RlsParts {
  readonly limiter: Limiter;
  readonly snapshot: () => Snapshot;
  readonly metrics: Metrics;
}

/** Decides a request of Envoy, from frame to frame. All its descriptors are one decision. */
export async function shouldRateLimit(frame: Buffer, { limiter, snapshot, metrics }: RlsParts): Promise<Buffer> {
  const time = timeOf(limiter);
  const startMicros = time.nowMicros();
  const { domain, descriptors } = readRequest(frame);
  const { tables, formats } = snapshot();
  const table = tables.envoy.get(domain);
  const uses = descriptorUses(descriptors, table, formats);
  const decided = await decideUses(
    limiter,
    uses.filter((use) => typeof use === 'object'),
  );
  const response = responseOf(uses, decided, { table, limiter });
  metrics.decided(decided.decision, decided.shadow);
  const answer =
    response.overallCode === CODE.ok
      ? 'allowed'
      : decided.decision?.outcome === 'unavailable'
        ? 'unavailable'
        : 'denied';
  // Names of unknown domains are written by others, and there may be any number of them.
  metrics.answered(table === undefined ? 'envoy' : `envoy:${domain}`, answer, (time.nowMicros() - startMicros) / 1e6);
  return writeResponse(response);
}

const NO_FIELDS: ReadonlyMap<string, string> = new Map();
const BODY_FIELDS = [
  ['Content-Type', 'application/problem+json'],
  ['Cache-Control', 'no-store'],
] as const;

function responseOf(
  uses: readonly DescriptorUse[],
  decided: UsesDecided,
  { table, limiter }: { readonly table: EnvoyTable | undefined; readonly limiter: Limiter },
): RlsResponse {
  const statuses = uses.map((use) => descriptorStatus(use, decided));
  const isDenied = statuses.some(isOverLimit);
  const { decision } = decided;
  const response =
    decision === null ? undefined : responseTo(decision, { fields: table!.fields, time: timeOf(limiter) });
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
  const violatedPolicies = allowed
    ? []
    : decision.results.filter((result) => !result.allowed && !result.hidden).map((result) => result.limit);
  return { limit, remaining: Number.isFinite(remaining) ? remaining : 0, retryAfterMs, violatedPolicies };
}
