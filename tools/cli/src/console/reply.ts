import { request, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestByTls } from 'node:https';

/** What a server answered: the status of HTTP, and the text. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** A request. Its connection is used for nothing else. */
export interface Sent extends Pick<RequestOptions, 'socketPath' | 'protocol' | 'host' | 'port'> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path: string;
  /** JSON, for a POST. */
  readonly body?: string;
  readonly timeoutMs: number;
}

/** The most bytes of an answer: room for 10,000 blocks of ids with usual lengths. */
export const MAX_REPLY_BYTES = 16_000_000;

/**
 * Sends a request once, and returns the answer.
 *
 * @throws {Error} If there is none within the time, or one that is too long.
 */
export function replyTo({ body, timeoutMs, headers, ...target }: Sent): Promise<Reply> {
  const signal = AbortSignal.timeout(timeoutMs);
  const typed = body === undefined ? headers : { 'Content-Type': 'application/json', ...headers };
  const method = body === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(signal.aborted ? new Error(`no answer within ${timeoutMs} ms`) : error);
    const send = target.protocol === 'https:' ? requestByTls : request;
    send({ ...target, method, headers: typed, agent: false, signal }, (response) => {
      textOf(response).then((text) => resolve({ status: response.statusCode!, text }), fail);
    })
      .on('error', fail)
      .end(body);
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_REPLY_BYTES) throw new Error('its answer is too long');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}
