/** Statuses of which the constructor of a response takes no body (Fetch, "null body status"), which another `fetch` may give them. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Bodies that nobody can read any more. Then they end, and their connections are free. */
const abandoned = new FinalizationRegistry((reader: ReadableStreamDefaultReader<Uint8Array>) => {
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
  if (body === null || body === undefined || BODILESS.has(status) || headers.get('content-length') === '0') {
    ended();
    return response;
  }
  const reader = body.getReader();
  // Also of a body that is aborted while nobody reads it.
  reader.closed.then(ended, ended);
  const stream = streamOf(response, reader);
  abandoned.register(stream, reader);
  const Class = response.constructor as typeof Response;
  return likened(new Class(stream, { ...madeStatus(status, statusText), headers }), response);
}

/** A server may send what `fetch` takes, and the constructor of a response does not: the status 999, or a phrase in UTF-8. */
function madeStatus(status: number, statusText: string): ResponseInit {
  return {
    status: status <= 599 ? status : 500,
    statusText: /^[\t\u0020-\u007E\u0080-\u00FF]*$/.test(statusText) ? statusText : '',
  };
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
      let { done, value } = await reader.read();
      // A stream of bytes takes no empty part.
      // oxlint-disable-next-line no-await-in-loop -- one part after the other
      while (!done && value!.byteLength === 0) ({ done, value } = await reader.read());
      // A copy: it would take the memory of the part away from others, such as all small buffers of Node.
      if (!done) return controller.enqueue(new Uint8Array(value!));
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
function likened(made: Response, { url, redirected, type, status, statusText, ok }: Response): Response {
  const original = { url, redirected, type, status, statusText, ok } as Response;
  return Object.defineProperties(made, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    status: { value: status },
    statusText: { value: statusText },
    ok: { value: ok },
    clone: { value: () => likened(Object.getPrototypeOf(made).clone.call(made) as Response, original) },
  });
}
