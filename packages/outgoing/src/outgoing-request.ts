import { complaint } from '@sluice/core/kit';
import type { OutgoingCall } from './limited-calls.ts';

type Input = Parameters<typeof fetch>[0];

/** What `fetch` was called with. */
export class OutgoingRequest implements OutgoingCall<Request> {
  readonly origin: string;
  readonly method: string;
  readonly signal: AbortSignal | undefined;
  /** Whether it can be sent again: it has no body, or one that can be read again. */
  readonly canRepeat: boolean;
  readonly #input: Input;
  readonly #init: RequestInit | undefined;
  readonly #url: string;
  #subject: Request | undefined;

  /** @throws {SluiceError} `ERR_OPTION` for an address that is not absolute, and a body that was read. */
  constructor(input: Input, init: RequestInit | undefined) {
    const request = isRequest(input) ? input : undefined;
    const url = isRequest(input) ? input.url : String(input);
    if (!URL.canParse(url)) throw notAbsolute(url);
    const body = init?.body ?? null;
    if (body === null ? request?.bodyUsed === true : (body as ReadableStream).locked) throw bodyUsed();
    this.origin = new URL(url).origin;
    this.method = (init?.method ?? request?.method ?? 'GET').toUpperCase();
    this.signal = (init?.signal === undefined ? request?.signal : init.signal) ?? undefined;
    this.canRepeat = isReadAgain(body);
    this.#input = input;
    this.#init = init;
    this.#url = url;
  }

  /** A copy that may be read. A body that can be read only once is left out. */
  subject(): Request {
    return (this.#subject ??= this.#copy());
  }

  /**
   * Sends it.
   *
   * @param isOnce - Whether it is not sent again.
   */
  send(fetch: typeof globalThis.fetch, isOnce: boolean): Promise<Response> {
    const input = this.#input;
    return fetch(isRequest(input) && !isOnce && this.#init?.body == null ? input.clone() : input, this.#init);
  }

  #copy(): Request {
    const input = this.#input;
    if (isRequest(input) && this.#init === undefined) return input.clone();
    // Its signal and its dispatcher are of no use here, and each copy would listen to the signal.
    const init: RequestInit = { ...this.#init, signal: null };
    delete (init as { dispatcher?: unknown }).dispatcher;
    if (!this.canRepeat) init.body = null;
    return new Request(isRequest(input) ? (init.body == null ? input.clone() : input) : this.#url, init);
  }
}

/** Also a request of another `fetch` than that of the platform. */
function isRequest(input: Input): input is Request {
  return typeof input === 'object' && input !== null && 'url' in input && 'clone' in input;
}

function isReadAgain(body: RequestInit['body']): boolean {
  if (body === null || body === undefined || typeof body === 'string') return true;
  if (body instanceof URLSearchParams || body instanceof FormData || body instanceof Blob) return true;
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body);
}

function notAbsolute(value: string): Error {
  const remedy = "There is no page that it is relative to: write 'https://api.example.com/path'.";
  return complaint('ERR_OPTION', { option: 'fetch(url)', demand: 'an absolute URL', value, remedy });
}

function bodyUsed(): Error {
  const remedy = 'Make a new one, or send request.clone() before its body is read.';
  return complaint('ERR_OPTION', {
    option: 'fetch(request)',
    demand: 'a request whose body was not read',
    value: 'one that was',
    remedy,
  });
}
