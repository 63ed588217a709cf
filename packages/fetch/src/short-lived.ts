import type { Store } from '@sluice/core';
import { SluiceError } from '@sluice/core';

/**
 * Rejects a memory store where each request may be handled by another instance, of which none lives for long: nothing
 * would be limited, and nobody would notice.
 *
 * @throws {SluiceError} `ERR_OPTION`.
 */
export function checkShared({ traits }: Store): void {
  if (traits?.answersAtOnce !== true) return;
  const platform = shortLivedPlatform();
  if (platform === undefined) return;
  throw new SluiceError(
    'ERR_OPTION',
    `must be shared by all instances ${platform.where}, but was a memory store. Requests are handled by instances that come and go there, and each would count for itself, so nothing would be limited. ${platform.remedy}`,
    { path: 'store' },
  );
}

interface Platform {
  readonly EdgeRuntime?: unknown;
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
}

/** Where instances come and go, and what to do there. */
interface ShortLived {
  readonly where: string;
  readonly remedy: string;
}

const VERCEL: ShortLived = {
  where: 'on Vercel',
  remedy: 'Use a store in a database, e.g. store: redisStore({ client }).',
};
// The runtime has no sockets, so no store of a database works in it.
const EDGE: ShortLived = {
  where: 'in the Edge runtime',
  remedy:
    "Use the Node runtime, export const runtime = 'nodejs', and a store in a database, e.g. store: redisStore({ client }).",
};

function shortLivedPlatform(): ShortLived | undefined {
  const { EdgeRuntime, process } = globalThis as Platform;
  // https://vercel.com/docs/functions/runtimes/edge and https://vercel.com/docs/environment-variables/system-environment-variables
  if (typeof EdgeRuntime === 'string' || process?.env?.['NEXT_RUNTIME'] === 'edge') return EDGE;
  return process?.env?.['VERCEL'] === '1' ? VERCEL : undefined;
}
