/** What tells such runtimes apart: names that no other runtime has. */
interface Platform {
  readonly EdgeRuntime?: unknown;
  readonly WebSocketPair?: unknown;
  readonly navigator?: { readonly userAgent?: unknown };
}

/**
 * Whether a timer of this runtime belongs to the request that set it: in Cloudflare Workers, and in the Edge runtime of
 * Vercel, which may run in them. It is not tried out, because a module may also be loaded within a request, where
 * a timer can be set.
 *
 * @see https://developers.cloudflare.com/workers/runtime-apis/web-standards/#navigatoruseragent
 */
export function endTimersWithRequest(platform: Platform = globalThis as Platform): boolean {
  const { EdgeRuntime, WebSocketPair, navigator } = platform;
  // Without a compatibility date of 2022, a Worker has no `navigator`.
  const isWorker = navigator?.userAgent === 'Cloudflare-Workers' || typeof WebSocketPair === 'function';
  return isWorker || typeof EdgeRuntime === 'string';
}
