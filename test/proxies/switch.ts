import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Passes connections on byte by byte, to one backend at a time: a proxy needs one configuration for all. */
export class Switch {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #to = 0;

  private constructor() {
    this.#server = createServer((socket) => this.#pass(socket));
  }

  static async start(): Promise<Switch> {
    const all = new Switch();
    await once(all.#server.listen(0, '127.0.0.1'), 'listening');
    return all;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Passes the next connections to a port, and ends those that are there. */
  switchTo(port: number): void {
    this.#to = port;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.switchTo(0);
  }

  #pass(socket: Socket): void {
    const backend = connect(this.#to, '127.0.0.1');
    for (const [each, other] of [
      [socket, backend],
      [backend, socket],
    ] as const) {
      this.#sockets.add(each);
      each.on('error', () => other.destroy()).on('close', () => this.#sockets.delete(each));
      each.pipe(other);
    }
  }
}
