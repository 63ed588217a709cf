import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';

/** The stream below a response of Node's HTTP/2 compatibility layer; `undefined` for a response of HTTP/1. */
export function http2StreamOf(response: ServerResponse): ServerHttp2Stream | undefined {
  // Responses that are not Node's own may have no request, and anything of the name `stream`.
  const { req, stream } = response as { readonly req?: IncomingMessage; readonly stream?: ServerHttp2Stream };
  return req?.httpVersionMajor === 2 ? stream : undefined;
}
