import type { OpenCall } from './open-call.ts';
import { StreamWatch, type StreamPart } from './stream-watch.ts';

/** The stream of a language model, a `ReadableStream`, by which these types need none of a platform. */
export interface PartStream {
  getReader(): unknown;
}

/**
 * Returns a stream of the same parts, errors and ends, which settles the call when it ends. It reads a part only when it is
 * asked for one.
 */
export function watchedStream<Stream extends PartStream>(stream: Stream, call: OpenCall): Stream {
  const reader = (stream as unknown as ReadableStream<StreamPart>).getReader();
  const watch = new StreamWatch(call);
  let controller: ReadableStreamDefaultController<StreamPart>;
  const pass = ({ done, value }: Awaited<ReturnType<typeof reader.read>>): void => {
    if (done) {
      watch.ended();
      controller.close();
    } else {
      watch.passed(value);
      controller.enqueue(value);
    }
  };
  const fail = (error: unknown): never => {
    watch.failed(error);
    throw error;
  };
  const watched = new ReadableStream<StreamPart>(
    {
      start: (given) => void (controller = given),
      // One function for all parts: a closure for each would cost more than the part.
      pull: () => reader.read().then(pass, fail),
      cancel(reason) {
        // A part that has been read already passes first, and is paid.
        queueMicrotask(() => watch.ended());
        return reader.cancel(reason);
      },
    },
    // Otherwise a part would be read before anybody asks for it.
    { highWaterMark: 0 },
  );
  return watched as unknown as Stream;
}
