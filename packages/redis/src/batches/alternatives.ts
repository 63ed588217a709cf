import type { BatchRequestParts } from './batch-request.ts';

/** Joins batches to one request, of which the script executes the first that passes. */
export function joinAlternatives(alternatives: readonly BatchRequestParts[]): BatchRequestParts {
  const { kind, deadlineMs } = alternatives[0]!;
  const batch = alternatives.flatMap((alternative) => alternative.batch);
  const keys = alternatives.flatMap((alternative) => alternative.keys);
  return { kind, batch, keys, deadlineMs, alternatives };
}
