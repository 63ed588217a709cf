import { PassThrough, type Writable } from 'node:stream';

/** What a handler may write to, in place of Node's response. It is closed when the response is over. */
export class WrittenStream extends PassThrough {
  /** @param onceOver - Calls a function when the response is over. */
  constructor(onceOver: (done: () => void) => void) {
    super();
    this.on('error', () => undefined);
    onceOver(() => this.destroy());
  }
}

/**
 * The body of a response whose handler writes to a stream. Not `Readable.toWeb`: in Node 22 and 24 it lets a promise reject
 * that nobody awaits when the stream is destroyed.
 */
export function streamed(outgoing: Writable): ReadableStream<Uint8Array> {
  const stream = outgoing as PassThrough;
  let isOpen = true;
  return new ReadableStream({
    start(controller) {
      stream.on('data', (part: Uint8Array) => isOpen && controller.enqueue(part));
      stream.once('close', () => isOpen && controller.close());
    },
    cancel() {
      isOpen = false;
      stream.destroy();
    },
  });
}
