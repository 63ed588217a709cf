/** `RateLimited` of the proposal SEP-3304 of the Model Context Protocol. */
const RATE_LIMITED = -32_023;

/**
 * Reads an error of JSON-RPC: `{ code: -32023, data: { retryAfterMs } }`.
 *
 * @returns How long to wait; `'untimed'` if it is such an error and does not say it, undefined for any other value.
 */
export function mcpWait(error: unknown): number | 'untimed' | undefined {
  const { code, data } = (error ?? {}) as { readonly code?: unknown; readonly data?: unknown };
  if (code !== RATE_LIMITED) return undefined;
  const { retryAfterMs } = (data ?? {}) as { readonly retryAfterMs?: unknown };
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.ceil(retryAfterMs) : 'untimed';
}
