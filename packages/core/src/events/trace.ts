import type { TracingChannel } from 'node:diagnostics_channel';
import { nodeModule } from '../runtime/node-module.ts';

/**
 * The tracing channel `sluice:decide`: a {@link TraceMessage} for every decision that takes time, because its store does not
 * answer at once. Undefined in a runtime without such channels.
 *
 * @see https://nodejs.org/api/diagnostics_channel.html#class-tracingchannel
 */
const decisions: TracingChannel<'sluice:decide', TraceMessage> | undefined = nodeModule(
  'node:diagnostics_channel',
)?.tracingChannel?.<'sluice:decide', TraceMessage>('sluice:decide');

/** A message of the tracing channel `sluice:decide`. */
export interface TraceMessage {
  readonly limiter: object;
  /** The names of the limits. */
  readonly limits: readonly string[];
}

/** Whether anybody traces decisions. A property, because each decision reads it. */
export const tracing: { readonly hasSubscribers: boolean } = decisions?.start ?? { hasSubscribers: false };

/** Makes a decision that is traced. */
export function traced<T>(decide: () => Promise<T> | T, message: TraceMessage): Promise<T> {
  // `tracePromise` takes a promise only.
  return decisions!.tracePromise(async () => decide(), message);
}
