import type { Decision } from '@sluice/core';

/** An event of a service, for logs. `message` says what happened and what to do. */
export type ServiceEvent =
  /** The files have new content, which is in use now. The log leaves out neither this nor the next. */
  | { readonly type: 'tables-reloaded'; readonly version: string; readonly message: string; readonly once: true }
  /** The content of the files was rejected. What was in use before stays in use. */
  | { readonly type: 'tables-rejected'; readonly cause: unknown; readonly message: string; readonly once: true }
  /** An untrusted peer sent a request. */
  | { readonly type: 'peer-rejected'; readonly message: string }
  /** A proxy asked in a way that can't be answered: its configuration needs a change. */
  | { readonly type: 'proxy-misconfigured'; readonly message: string }
  /** A request costs more than its limit can ever allow. It was denied, and no wait helps. */
  | { readonly type: 'cost-over-burst'; readonly limit: string; readonly message: string }
  /** Not all spellings of a path are known, so that the request was under all rules with paths. */
  | { readonly type: 'under-all-rules'; readonly table: string; readonly message: string }
  /** A decision failed by an error of this program. */
  | { readonly type: 'check-failed'; readonly cause: unknown; readonly message: string };

/** Reports a decision on a request that costs more than its limit can ever allow. */
export function reportCostOverBurst(decision: Decision | null, emit: (event: ServiceEvent) => void): void {
  if (decision === null || decision.blocked || decision.retryAfterMs !== Infinity) return;
  const { limit, cost, burst } = decision.results[0]!;
  const message = `A request was denied that can never pass: its cost is ${cost}, and the burst of its limit "${limit}" ${burst}. Raise the burst or lower the cost.`;
  emit({ type: 'cost-over-burst', limit, message });
}

/** Reports a request that was under all rules of a table, by the name of the table in events. */
export function reportUnderAllRules(table: string, emit: (event: ServiceEvent) => void): void {
  const message = `A request was under all rules of the table "${table}" with paths, because its path has too many spellings. Only hostile clients send such paths.`;
  emit({ type: 'under-all-rules', table, message });
}
