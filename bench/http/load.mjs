import { connect } from 'node:net';

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n';
const END_OF_HEAD = '\r\n\r\n';
const CONTENT_LENGTH = /\r\ncontent-length: (\d+)/i;

/**
 * Asks for `/` over and over, one request at a time on each connection. A raw socket and a look at the length of each
 * response: a load generator that does more is slower than the servers that it should measure.
 */
export class Load {
  #sockets;
  #status;
  #responses = 0;
  #bytes = 0;
  #other = 0;
  #outstanding = 0;
  #endMs = 0;
  #end = () => {};

  /** @param {{ port: number, connections: number, status: number }} options The status that every response must have. */
  constructor({ port, connections, status }) {
    this.#status = ` ${status} `;
    this.#sockets = Array.from({ length: connections }, () => this.#connected(port));
  }

  /**
   * Asks for so long, and then waits for the responses that are still to come. Until the next time it is idle.
   *
   * @param {number} lastsMs
   * @returns {Promise<void>}
   */
  async during(lastsMs) {
    this.#endMs = performance.now() + lastsMs;
    const ended = new Promise((resolve) => (this.#end = () => resolve(undefined)));
    for (const socket of this.#sockets) this.#ask(socket);
    await ended;
  }

  /** How many responses came so far. */
  get responses() {
    return this.#responses;
  }

  /** How many bytes they had. */
  get bytes() {
    return this.#bytes;
  }

  /** How many of them had another status. */
  get other() {
    return this.#other;
  }

  /** @param {number} port */
  #connected(port) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (/** @type {string} */ chunk) => {
      received = received === '' ? chunk : received + chunk;
      if (!isWhole(received)) return;
      this.#count(received);
      received = '';
      if (performance.now() < this.#endMs) this.#ask(socket);
      else if (this.#outstanding === 0) this.#end();
    });
    socket.on('end', () => {
      throw new Error('The server closed a connection.');
    });
    return socket;
  }

  /** @param {import('node:net').Socket} socket */
  #ask(socket) {
    this.#outstanding++;
    socket.write(REQUEST);
  }

  /** @param {string} response */
  #count(response) {
    this.#outstanding--;
    this.#responses++;
    this.#bytes += response.length;
    if (!response.startsWith(this.#status, 'HTTP/1.1'.length)) this.#other++;
  }
}

/** @param {string} response */
function isWhole(response) {
  const end = response.indexOf(END_OF_HEAD);
  if (end < 0) return false;
  const length = CONTENT_LENGTH.exec(response)?.[1];
  if (length === undefined) throw new Error(`A response without a Content-Length: ${response.slice(0, end)}`);
  return response.length >= end + END_OF_HEAD.length + Number(length);
}
