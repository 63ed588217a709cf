import { tracingChannel } from 'node:diagnostics_channel';
import { SpanStatusCode, type Span, type TracerProvider } from '@opentelemetry/api';
import { SluiceError, type Decision } from '@sluice/core';
import type { TraceMessage } from '@sluice/core/metrics';
import { SCOPE } from './instrument.ts';

interface Traced extends TraceMessage {
  readonly result?: Decision;
  readonly error?: unknown;
}

/**
 * Makes a span of each decision that takes time, because the store of its limiter does not answer at once: the time is that of
 * the store. Its parent is the active span. With the memory store there are none. It sees all limiters of the process.
 *
 *     const stop = spans(trace.getTracerProvider());
 *
 * @returns Ends it. Repeated calls do nothing.
 * @throws {SluiceError} `ERR_OPTION` when the value is not a tracer provider.
 */
export function spans(tracerProvider: TracerProvider): () => void {
  if (typeof (tracerProvider as Partial<TracerProvider> | undefined)?.getTracer !== 'function') throw noProvider();
  const tracer = tracerProvider.getTracer(SCOPE);
  const open = new WeakMap<object, Span>();
  const channel = tracingChannel<'sluice:decide', Traced>('sluice:decide');
  const subscribers = {
    start(message: object): void {
      const attributes = { 'sluice.limits': [...(message as Traced).limits] };
      open.set(message, tracer.startSpan('sluice decide', { attributes }));
    },
    error(message: object): void {
      const span = open.get(message);
      span?.recordException((message as Traced).error as Error);
      span?.setStatus({ code: SpanStatusCode.ERROR });
    },
    asyncEnd(message: object): void {
      const span = open.get(message);
      if (span === undefined) return;
      const { result } = message as Traced;
      if (result !== undefined) describe(span, result);
      span.end();
    },
  };
  channel.subscribe(subscribers as never);
  return () => {
    channel.unsubscribe(subscribers as never);
  };
}

function describe(span: Span, { limit, outcome, failure, delayMs, retryAfterMs }: Decision): void {
  span.setAttribute('sluice.outcome', outcome);
  if (limit !== null) span.setAttribute('sluice.limit', limit);
  if (failure !== undefined) span.setAttribute('sluice.policy', failure.policy);
  if (delayMs > 0) span.setAttribute('sluice.delay', delayMs / 1000);
  if (retryAfterMs > 0 && retryAfterMs !== Infinity) span.setAttribute('sluice.retry_after', retryAfterMs / 1000);
}

function noProvider(): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    '`spans` must be given a TracerProvider. For example spans(trace.getTracerProvider()), with `trace` of @opentelemetry/api.',
  );
}
