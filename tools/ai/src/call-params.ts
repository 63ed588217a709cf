/**
 * What the AI SDK hands to a middleware for a call: parts of the call options of a language model, or of a model of
 * embeddings.
 */
export interface CallParams {
  /** The messages, for a language model. */
  readonly prompt?: readonly Message[] | undefined;
  /** The texts, for a model of embeddings. */
  readonly values?: readonly string[] | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly tools?: readonly object[] | undefined;
  readonly responseFormat?: { readonly type: string } | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Options by providers. One of your own name, such as `{ app: { user: '12345678' } }`, no provider reads. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** A message of a prompt. */
interface Message {
  readonly role: string;
  readonly content: string | readonly MessagePart[];
}

/** A part of a message: what it has depends on its type. */
interface MessagePart {
  readonly type: string;
  readonly text?: string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
}
