import type { OpenCall } from './open-call.ts';
import { StreamWatch, type Read, type StreamPart } from './stream-watch.ts';
import type { UsageOf } from './usage-of.ts';

type Iterate = () => AsyncIterator<unknown>;

/** The stream of an SDK. Those of OpenAI and Anthropic have a controller, and read `iterator`, in `tee`, too. */
interface Iterable extends AsyncIterable<unknown> {
  readonly iterator?: Iterate;
  readonly controller?: AbortController | undefined;
}

/** Whether an answer is streamed. */
export function isIterable(answer: unknown): answer is Iterable {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}

/** Makes a stream settle the call when it ends. It stays the object that it was, with what else its class has. */
export function watchIterable<Stream extends Iterable>(stream: Stream, call: OpenCall, reads: UsageOf): Stream {
  const name = typeof stream.iterator === 'function' ? 'iterator' : Symbol.asyncIterator;
  const iterate = (stream[name] as Iterate).bind(stream);
  let inner: AsyncIterator<unknown> | undefined;
  const value: Iterate = () => {
    // Streams are read once: the error of reading one again is none of the call.
    if (inner !== undefined) return iterate();
    inner = iterate();
    return watchedIterator(watch);
  };
  // Throws for a frozen one, which nothing must watch then.
  Object.defineProperty(stream, name, { value, configurable: true, writable: true });
  const watch = new StreamWatch(call, {
    // `for await` takes what is no promise as well.
    read: () => new Promise<Read>((resolve) => resolve((inner ??= iterate()).next())),
    partsOf: partsBy(reads),
    isCut: () => call.isAborted || stream.controller?.signal?.aborted === true,
    stop() {
      // An iterator of which nothing was read has nothing to end.
      stream.controller?.abort?.();
      return inner?.return?.();
    },
  });
  return stream;
}

function watchedIterator(watch: StreamWatch): AsyncIterableIterator<unknown> {
  return {
    next: () => watch.read() as Promise<IteratorResult<unknown>>,
    async return(value?: unknown) {
      await watch.left(undefined);
      return { done: true, value };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Reads what a provider has sent as the parts that a watch knows. */
export function partsBy(reads: UsageOf): (sent: unknown) => StreamPart[] {
  return (sent) => {
    const { usage, text = '', reasoning = '', failed = false } = reads(sent);
    const parts: StreamPart[] = [{ type: failed ? 'error' : 'response-metadata', ...(usage && { usage }) }];
    if (reasoning !== '') parts.push({ type: 'reasoning-delta', delta: reasoning });
    if (text !== '') parts.push({ type: 'text-delta', delta: text });
    return parts;
  };
}
