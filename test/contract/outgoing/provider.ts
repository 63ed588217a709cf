import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const CHUNK = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'hello ' }, finish_reason: null }],
};
const MESSAGE = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

/** An API on a real socket, which counts the calls that it sees. */
export class Provider {
  readonly #server: Server;
  /** The statuses of the next answers, before all are 200. */
  readonly denials: number[] = [];
  /** What its denials say, in `retry-after-ms`. */
  retryAfterMs = 1;
  /** When calls came. */
  readonly times: number[] = [];
  calls = 0;
  /** The calls that are being answered. */
  running = 0;
  /** The most that were answered at the same time. */
  most = 0;
  url = '';

  constructor() {
    this.#server = createServer((request, response) => {
      this.calls++;
      this.times.push(performance.now());
      this.running++;
      this.most = Math.max(this.most, this.running);
      response.once('close', () => this.running--);
      // SDKs send bodies, of which only the end matters.
      request.resume().once('end', () => this.#answer(request, response));
    });
    this.#server.on('upgrade', (_request, socket: Socket) => {
      this.calls++;
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n');
      socket.on('error', () => undefined);
      socket.on('end', () => socket.end());
    });
  }

  async open(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const status = this.denials.shift();
    if (status !== undefined) {
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after-ms': this.retryAfterMs });
      return void response.end('{"error":{"message":"denied"}}');
    }
    const { pathname } = new URL(request.url!, this.url);
    (ANSWERS[pathname] ?? json(MESSAGE))(request, response);
  }
}

const ANSWERS: Readonly<Record<string, Answer>> = {
  '/chat/completions': (request, response) =>
    (isStreamed(request) ? events(CHUNK) : json(COMPLETION))(request, response),
  '/empty': (_request, response) => void response.writeHead(204).end(),
  '/nothing': (_request, response) => void response.writeHead(200, { 'content-length': '0' }).end(),
  '/cookies': (_request, response) =>
    void response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'], 'x-more': 'yes' }).end('hello'),
  '/moved': (_request, response) => void response.writeHead(302, { location: '/cookies' }).end(),
  // Never ends: its first part is all that comes.
  '/endless': (_request, response) => void response.writeHead(200).write('first'),
  '/broken': (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('first');
    setImmediate(() => response.destroy());
  },
  // Node writes the phrase as latin-1, and this byte alone is not valid UTF-8.
  '/strange': (_request, response) => void response.writeHead(999, 'refus\u00E9').end('hello'),
  '/refused': (request) => void request.socket.destroy(),
  '/large': (_request, response) => void response.writeHead(200).end(Buffer.alloc(4_000_000)),
};

function isStreamed({ headers }: IncomingMessage): boolean {
  return headers['x-streamed'] === 'yes';
}

function json(body: unknown): Answer {
  return (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function events(chunk: unknown): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < 3; i++) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  };
}
