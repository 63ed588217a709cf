import type { Result } from './result.ts';

/** Tokens by limiter, known by the owner of its decisions, and by bucket. Only buckets with pending tokens are listed. */
const pendingOf = new WeakMap<object, Map<string, number>>();

/**
 * Notes that tokens may come back, because the true costs are known only after the work.
 *
 * @returns A function to be called when the costs are settled.
 */
export function addPending(owner: object, results: readonly Result[]): () => void {
  // Slots are released, and not settled.
  const taken = results.filter(({ spent, kind }) => spent > 0 && kind !== 'concurrency');
  let pending = taken.map((result) => ({ bucket: bucketOf(result), tokens: result.spent }));
  const buckets = pendingOf.get(owner) ?? new Map<string, number>();
  pendingOf.set(owner, buckets);
  for (const { bucket, tokens } of pending) add(buckets, bucket, tokens);
  return () => {
    for (const { bucket, tokens } of pending) add(buckets, bucket, -tokens);
    pending = [];
  };
}

function add(buckets: Map<string, number>, bucket: string, tokens: number): void {
  const sum = (buckets.get(bucket) ?? 0) + tokens;
  if (sum === 0) buckets.delete(bucket);
  else buckets.set(bucket, sum);
}

/** Adds the tokens that are pending to those results of a denied batch whose limits denied. */
export function notePending(owner: object, results: Result[]): void {
  const buckets = pendingOf.get(owner);
  if (buckets === undefined) return;
  for (const [i, result] of results.entries()) {
    const pending = result.allowed ? undefined : buckets.get(bucketOf(result));
    if (pending !== undefined) results[i] = { ...result, pending };
  }
}

/** No name of a limit has a space. */
function bucketOf({ limit, id }: Result): string {
  return `${limit} ${id}`;
}
