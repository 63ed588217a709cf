import type { Answer } from '@sluice/core/http';

/** The status for a request whose client has left, as nginx logs it. Nobody receives the response. */
const LEFT = 499;

/** Returns the response for an answer of core, e.g. to a denied request, without the rate limit fields. */
export function answerResponse({ status, fields, body }: Answer, method: string): Response {
  // As bytes, because a Response adds a charset to the type of a text. The media type of problem details has no such
  // parameter (RFC 9457 section 6.1).
  const bytes = new TextEncoder().encode(body);
  const headers = { ...fields, 'Content-Length': String(bytes.byteLength) };
  return new Response(method === 'HEAD' ? null : bytes, { status, headers });
}

/** Returns what there is when a client has left before there was a response. */
export function leftResponse(): Response {
  return new Response(null, { status: LEFT });
}
