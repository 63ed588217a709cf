import type { OpenCall } from './open-call.ts';
import { StreamWatch, type Read, type StreamPart } from './stream-watch.ts';

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
  partsOf = (part: unknown): readonly StreamPart[] => [part as StreamPart],
): Stream {
  const reader = (stream as unknown as ReadableStream<unknown>).getReader();
  const watch = new StreamWatch(call, {
    read: () => reader.read(),
    partsOf,
    stop: (reason) => reader.cancel(reason),
  });
  let controller: ReadableStreamDefaultController<unknown>;
  const deliver = ({ done, value }: Read): void => {
    if (done === true) controller.close();
    else controller.enqueue(value);
  };
  const watched = new ReadableStream<unknown>(
    {
      start: (given) => void (controller = given),
      // One function for all parts: a closure for each would cost more than the part.
      pull: () => watch.read().then(deliver),
      cancel: (reason) => watch.left(reason),
    },
    // Otherwise a part would be read before anybody asks for it.
    { highWaterMark: 0 },
  );
  return watched as unknown as Stream;
}
