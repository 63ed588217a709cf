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
export function watchedStream<Stream extends PartStream>(
  stream: Stream,
  call: OpenCall,
  partsOf?: (value: unknown) => readonly StreamPart[],
): Stream {
  const reader = (stream as unknown as ReadableStream<unknown>).getReader();
  let controller: ReadableStreamDefaultController<unknown>;
  const watch = new StreamWatch(call, {
    read: () => reader.read(),
    partsOf,
    deliver({ done, value }) {
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    stop: (reason) => reader.cancel(reason),
  });
  const watched = new ReadableStream<unknown>(
    {
      start: (given) => void (controller = given),
      pull: () => watch.read() as Promise<unknown> as Promise<void>,
      cancel: (reason) => watch.left(reason),
    },
    // Otherwise a part would be read before anybody asks for it.
    { highWaterMark: 0 },
  );
  return watched as unknown as Stream;
}
