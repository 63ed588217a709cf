import type { RequestLimiter } from '../limiter/request-limiter.ts';
import { http2StreamOf, partsOf, type NodeResponse } from './node-response.ts';

/**
 * Ends the response to a denied request if its head was already sent, and emits an event `denial-not-sent`. The status
 * can no longer be sent, and no other code would end the response. A response with a declared length is aborted, so
 * that the client does not take it for complete.
 *
 * @returns Whether the head was sent: the adapter can then send nothing.
 */
export function endIfBegun({ limiter }: { readonly limiter: RequestLimiter<never> }, outgoing: NodeResponse): boolean {
  if (!outgoing.headersSent) return false;
  if (outgoing.writableEnded || outgoing.destroyed) return true;
  // The code that began the response may continue to write, and an `error` event without a listener ends the process.
  outgoing.on('error', ignore);
  const breaks = promisesBytes(outgoing);
  if (breaks) breakOff(outgoing);
  else outgoing.end();
  limiter.emit({
    type: 'denial-not-sent',
    message: `A request was denied after its response had begun. Its status could not be sent, so the response was ${breaks ? 'aborted' : 'ended'}. Put rateLimit before the middleware that begins responses (flushHeaders, writeHead, write).`,
  });
  return true;
}

function ignore(): void {}

function promisesBytes(outgoing: NodeResponse): boolean {
  const { statusCode } = outgoing;
  const { req, chunkedEncoding } = partsOf(outgoing);
  if (req?.method === 'HEAD' || statusCode === 204 || statusCode === 304) return false;
  const length = outgoing.getHeader('content-length');
  if (length !== undefined) return Number(length) > 0;
  // A length that was passed only to writeHead can't be read back. HTTP/2 has no chunked encoding.
  return chunkedEncoding === false;
}

/** RFC 9113 section 7. For this code Node emits no `error` event, which frameworks would report. */
const CANCEL = 8;

function breakOff(outgoing: NodeResponse): void {
  const stream = http2StreamOf(outgoing);
  if (stream === undefined) outgoing.destroy();
  else stream.close(CANCEL);
}
