import type { StoreReading } from '@sluice/core/store';
import {
  BatchRequest,
  readingOf,
  type BatchObserver,
  type BatchRequestParts,
} from '../../src/batches/batch-request.ts';
import { ScriptBatch } from '../../src/batches/script-batch.ts';

const quiet: BatchObserver = { onAnswer: () => {}, onFailure: () => {} };

/** A call of the script with a batch that is added, and the reading that comes of it. */
export function added(call: ScriptBatch, parts: Omit<BatchRequestParts, 'deadlineMs'>): Promise<StoreReading> {
  return readingOf((sink) => call.add(new BatchRequest({ ...parts, deadlineMs: 50 }, quiet, sink)));
}

/** A call of the script that is not sent. */
export function emptyCall(): ScriptBatch {
  return new ScriptBatch(50, 0, () => {});
}
