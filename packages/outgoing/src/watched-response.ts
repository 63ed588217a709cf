interface Watched {
  readonly ended: () => void;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
}

/** Bodies that nobody can read any more. */
const abandoned = new FinalizationRegistry(({ ended, reader }: Watched) => {
  ended();
  // The connection is free then.
  reader.cancel('The response was garbage-collected').catch(() => undefined);
});

/**
 * Returns the same response with a body that reports when it has ended: read, cancelled, failed, or garbage-collected. It is
 * read only when it is asked for more.
 *
 * @param ended - Called once or more. It must not refer to the response.
 */
export function watchedResponse(response: Response, ended: () => void): Response {
  const { body, status, statusText, headers } = response;
  if (body === null || body === undefined || headers.get('content-length') === '0') {
    ended();
    return response;
  }
  const reader = body.getReader();
  // Also of a body that is aborted while nobody reads it.
  reader.closed.then(ended, ended);
  const stream = streamOf(response, reader);
  abandoned.register(stream, { ended, reader });
  const Class = response.constructor as typeof Response;
  return likened(new Class(stream, { status, statusText, headers }), response);
}

/**
 * A stream of bytes, as the body of a response is.
 *
 * @param response - Kept until then: `fetch` may fail the body of a response that it can find only.
 */
function streamOf(response: Response, reader: ReadableStreamDefaultReader<Uint8Array>): NonNullable<Response['body']> {
  const source = {
    type: 'bytes' as const,
    response,
    async pull(controller: ReadableByteStreamController): Promise<void> {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      controller.close();
      // A reader with a buffer of its own waits for this.
      controller.byobRequest?.respond(0);
    },
    cancel: (reason: unknown) => reader.cancel(reason),
  };
  // Otherwise a part would be read before anybody asks for it.
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** Gives a response what a new one lacks. */
function likened(made: Response, { url, redirected, type }: Response): Response {
  const original = { url, redirected, type } as Response;
  return Object.defineProperties(made, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    clone: { value: () => likened(Object.getPrototypeOf(made).clone.call(made) as Response, original) },
  });
}
