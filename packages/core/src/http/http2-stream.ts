import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';

/** Returns the stream of a response of Node's HTTP/2 compatibility layer; `undefined` for an HTTP/1 response. */
export function http2StreamOf(response: ServerResponse): ServerHttp2Stream | undefined {
  // Responses that are not Node's own may lack a request, and may have any property named `stream`.
  const { req, stream } = response as { readonly req?: IncomingMessage; readonly stream?: ServerHttp2Stream };
  return req?.httpVersionMajor === 2 ? stream : undefined;
}
