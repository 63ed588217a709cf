import type { OpenCall } from './open-call.ts';
import { StreamWatch, type StreamPart } from './stream-watch.ts';
import type { UsageOf, Used } from './usage-of.ts';

type Iterate = () => AsyncIterator<unknown>;

/** The stream of an SDK. Those of OpenAI and Anthropic read `iterator`, in `tee`, too. */
interface Iterable extends AsyncIterable<unknown> {
  readonly iterator?: Iterate;
}

/** Whether an answer is streamed. */
export function isIterable(answer: unknown): answer is Iterable {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}

/** Makes a stream settle the call when it ends. It stays the object that it was, with what else its class has. */
export function watchIterable<Stream extends Iterable>(stream: Stream, call: OpenCall, reads: UsageOf): Stream {
  const name = typeof stream.iterator === 'function' ? 'iterator' : Symbol.asyncIterator;
  const iterate = (stream[name] as Iterate).bind(stream);
  let isRead = false;
  const value: Iterate = () => {
    // Streams are read once: the error of reading one again is none of the call.
    if (isRead) return iterate();
    isRead = true;
    return watchedIterator(iterate(), watch, reads);
  };
  // Throws for a frozen one, which nothing must watch then.
  Object.defineProperty(stream, name, { value, configurable: true, writable: true });
  const watch = new StreamWatch(call);
  return stream;
}

function watchedIterator(
  inner: AsyncIterator<unknown>,
  watch: StreamWatch,
  reads: UsageOf,
): AsyncIterableIterator<unknown> {
  const pass = (result: IteratorResult<unknown> | undefined): IteratorResult<unknown> => {
    const { done, value } = result ?? ENDED;
    if (done === true) watch.ended();
    else for (const part of partsOf(reads(value))) watch.passed(part);
    return result!;
  };
  const fail = (error: unknown): never => {
    watch.failed(error);
    throw error;
  };
  return {
    // `for await` takes what is no promise as well.
    next: () => new Promise<IteratorResult<unknown>>((resolve) => resolve(inner.next())).then(pass, fail),
    async return(value?: unknown) {
      watch.ended();
      return (await inner.return?.(value)) ?? { done: true, value };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The end of a stream, for a result of an iterator that is none. */
const ENDED: IteratorResult<unknown> = { done: true, value: undefined };

/** What a part says, in the parts that a watch knows. */
export function* partsOf({ usage, text = '', reasoning = '', failed = false }: Used): Generator<StreamPart> {
  if (reasoning !== '') yield { type: 'reasoning-delta', delta: reasoning };
  if (text !== '') yield { type: 'text-delta', delta: text };
  yield { type: failed ? 'error' : 'response-metadata', ...(usage === undefined ? {} : { usage }) };
}
