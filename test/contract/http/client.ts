import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, constants, type IncomingHttpHeaders as Http2Headers } from 'node:http2';
import type { Server } from 'node:net';
import { Test, type Response } from 'supertest';

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** A request whose client may leave before the answer is complete. */
export interface Visit {
  /** Rejects when the answer breaks off, and when the client leaves. */
  readonly answer: Promise<Answer>;
  /** Resolves when the client is done with the request, in whatever way. */
  readonly left: Promise<void>;
  /** Closes the connection; over HTTP/2 it resets the stream. */
  leave(): void;
}

/** Sends one request over HTTP/1.1, on a connection of its own, and waits for the answer. */
export async function ask(server: Server, path: string, { method = 'GET', headers = {} }: Ask = {}): Promise<Answer> {
  const test = new Test(server, method, path).buffer(true).parse(asText);
  for (const [name, value] of Object.entries(headers)) test.set(name, value as string);
  const response = await test;
  const { rawHeaders } = (response as unknown as { res: IncomingMessage }).res;
  // The answer to a HEAD request has nothing to parse, and an object in its place.
  const body = typeof response.body === 'string' ? response.body : '';
  return { status: response.status, headers: response.headers, rawHeaders, body };
}

function asText(response: Response, done: (error: Error | null, body: string) => void): void {
  const body = textOf(response as unknown as NodeJS.ReadableStream);
  response.on('end', () => done(null, body()));
}

/** Sends one request over a connection of its own, for a client that may leave before the answer. */
export type Client = (url: string, ask?: Ask) => Visit;

export const http1Client: Client = (url, { method = 'GET', headers = {} } = {}) => {
  const sent = request(url, { method, headers: headers as never, agent: new Agent() });
  const answer = new Promise<Answer>((resolve, reject) => {
    sent.on('error', reject).on('response', (response) => {
      const body = textOf(response);
      response.on('error', reject).on('end', () => {
        const { statusCode = 0, headers: received, rawHeaders } = response;
        resolve({ status: statusCode, headers: received, rawHeaders, body: body() });
      });
    });
  });
  sent.end();
  return visitOf(answer, sent, () => sent.destroy());
};

export const http2Client: Client = (url, { method = 'GET', headers = {} } = {}) => {
  const { origin } = new URL(url);
  const session = connect(origin);
  const stream = session.request({ ':method': method, ':path': url.slice(origin.length), ...headers });
  const answer = new Promise<Answer>((resolve, reject) => {
    session.on('error', reject);
    stream.on('error', reject).on('response', (received: Http2Headers, _flags: number, rawHeaders: string[]) => {
      const body = textOf(stream);
      stream.on('close', () => {
        if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) reject(new Error(`The stream was reset: ${stream.rstCode}`));
        resolve({ status: Number(received[':status']), headers: received, rawHeaders, body: body() });
      });
    });
  });
  stream.on('close', () => session.close()).end();
  return visitOf(answer, stream, () => stream.close(constants.NGHTTP2_CANCEL));
};

function textOf(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => (text += chunk));
  return () => text;
}

function visitOf(answer: Promise<Answer>, sent: NodeJS.EventEmitter, leave: () => void): Visit {
  // Nobody waits for the answer of a client that leaves.
  answer.catch(() => undefined);
  return { answer, left: new Promise((resolve) => void sent.once('close', resolve)), leave };
}
