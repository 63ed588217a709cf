import type { ServerHttp2Stream } from 'node:http2';
import type { Writable } from 'node:stream';

/** What is used of a response of Node, of HTTP/1 or of the HTTP/2 compatibility layer. */
export interface NodeResponse extends Writable {
  readonly headersSent: boolean;
  readonly statusCode: number;
  getHeader(name: string): number | string | readonly string[] | undefined;
}

/** What only some responses have. */
interface NodeResponseParts {
  /** Responses that are not Node's own may lack it. */
  readonly req?: { readonly method?: string; readonly httpVersionMajor: number };
  /** The stream of an HTTP/2 response. Others may have any property of this name. */
  readonly stream?: ServerHttp2Stream;
  /** Whether the body is sent in chunks; undefined for HTTP/2, which has no chunked encoding. */
  readonly chunkedEncoding?: boolean;
}

/** Returns the parts of a response that not all responses have. */
export function partsOf(response: NodeResponse): NodeResponseParts {
  return response as NodeResponseParts;
}

/** Returns the stream of a response of Node's HTTP/2 compatibility layer; `undefined` for an HTTP/1 response. */
export function http2StreamOf(response: NodeResponse): ServerHttp2Stream | undefined {
  const { req, stream } = partsOf(response);
  return req?.httpVersionMajor === 2 ? stream : undefined;
}
