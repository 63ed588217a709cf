import type { ServerResponse } from 'node:http';
import type { LimiterCore } from '../limiter/limiter-core.ts';
import { http2StreamOf } from './http2-stream.ts';

/**
 * Ends the response to a denied request when its head was sent before the denial, with a `denial-not-sent` event: its
 * status can not be sent any more, and nobody else would end it. A response that promised a length is broken off, so that its client
 * does not take it for a complete one.
 *
 * @returns Whether the head was sent: then there is nothing that an adapter can send.
 */
export function endIfBegun({ limiter }: { readonly limiter: LimiterCore<never> }, outgoing: ServerResponse): boolean {
  if (!outgoing.headersSent) return false;
  if (outgoing.writableEnded || outgoing.destroyed) return true;
  // What began the response may go on to write, and an `error` event without a listener ends the process.
  outgoing.on('error', ignore);
  const breaks = promisesBytes(outgoing);
  if (breaks) breakOff(outgoing);
  else outgoing.end();
  limiter.notify({
    type: 'denial-not-sent',
    message: `A request was denied after its response had begun. Its status could not be sent, so the response was ${breaks ? 'aborted' : 'ended'}. Put rateLimit before the middleware that begins responses (flushHeaders, writeHead, write).`,
  });
  return true;
}

function ignore(): void {}

function promisesBytes(outgoing: ServerResponse): boolean {
  const { req, statusCode } = outgoing;
  if (req?.method === 'HEAD' || statusCode === 204 || statusCode === 304) return false;
  const length = outgoing.getHeader('content-length');
  if (length !== undefined) return Number(length) > 0;
  // A length that was given to writeHead alone can't be read back. HTTP/2 has no chunks.
  const { chunkedEncoding } = outgoing as { readonly chunkedEncoding?: boolean };
  return chunkedEncoding === false;
}

/** RFC 9113 section 7. Of this one Node makes no error event, which frameworks would report. */
const CANCEL = 8;

function breakOff(outgoing: ServerResponse): void {
  const stream = http2StreamOf(outgoing);
  if (stream === undefined) outgoing.destroy();
  else stream.close(CANCEL);
}
