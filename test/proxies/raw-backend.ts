import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nreached';

/** A backend that takes whatever bytes reach it for a request, so that none is missed because a parser rejects it. */
export class RawBackend {
  readonly #server = createServer((socket) => this.#serve(socket));
  /** What reached it: the beginning of each request. */
  readonly reached: string[] = [];

  static async start(): Promise<RawBackend> {
    const backend = new RawBackend();
    backend.#server.listen(0, '127.0.0.1');
    await once(backend.#server, 'listening');
    return backend;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: Socket): void {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      this.reached.push(bytes.toString('latin1', 0, 200));
      // Ends only its own side: what still comes is read, so that the answer is not lost.
      socket.end(ANSWER);
      socket.resume();
    });
  }
}
