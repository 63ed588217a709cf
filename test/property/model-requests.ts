import fc from 'fast-check';

/**
 * A part of a request to a model, with what a provider counts in it, as it was put there: nothing is read back from the
 * request.
 */
interface Part {
  readonly value: unknown;
  /** Bytes of what the model is shown as text. */
  readonly text: number;
  /** Tokens that are given as numbers. */
  readonly ids: number;
  /** Files that the model is shown. */
  readonly files: number;
  /** What is encrypted: a file at most. */
  readonly opaque: number;
}

/** A request, and how many answers it asks for. */
export interface ModelRequest extends Part {
  readonly answers: number;
}

export const MAX_ANSWER = 50;

const NONE = { text: 0, ids: 0, files: 0, opaque: 0 };
const bytesOf = (text: string): number => Buffer.byteLength(text);
const jsonOf = (value: unknown): number => bytesOf(JSON.stringify(value));

/** The bytes of an image, of thoughts or of a document, which are no text. */
const BLOBS = [40, 3000, 200_000].map((size) => Buffer.alloc(size, 'Some bytes 0123456789').toString('base64'));
const blob = fc.constantFrom(...BLOBS);

/** The size of a request as JSON without its bytes: what a model is shown is not more. */
export function jsonSize(request: unknown): number {
  const isBytes = (value: unknown): boolean =>
    ArrayBuffer.isView(value) || (typeof value === 'string' && BLOBS.some((each) => value.endsWith(each)));
  // A Buffer becomes an object before it is given to a replacer.
  return jsonOf(
    JSON.parse(
      JSON.stringify(request, function replace(this: Record<string, unknown>, name: string, value: unknown) {
        return isBytes(this[name]) ? '' : value;
      }),
    ),
  );
}

const text = fc.oneof(
  fc.lorem({ mode: 'sentences', maxCount: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.constantFrom(
    '',
    'x'.repeat(500),
    BLOBS[1]!.slice(0, 999),
    'https://example.com/',
    'data:text/plain,hello',
    '你好，世界'.repeat(40),
  ),
);
const json = fc.dictionary(
  fc.constantFrom('id', 'type', 'detail', 'data', 'url', 'encrypted_content', 'query'),
  fc.oneof(text, fc.array(fc.integer(), { maxLength: 5 }), fc.record({ role: text, signature: text })),
);
const name = fc.stringMatching(/^[a-z_]{1,20}$/);
const label = fc.stringMatching(/^[a-z]{2,5}_[A-Za-z0-9]{1,30}$/);

/** A part whose value has one text. */
const ofText = (make: (given: string) => unknown): fc.Arbitrary<Part> =>
  text.map((given) => ({ ...NONE, value: make(given), text: bytesOf(given) }));
/** A part whose value is a file. */
const ofFile = (make: (data: string) => unknown): fc.Arbitrary<Part> =>
  blob.map((data) => ({ ...NONE, value: make(data), files: 1 }));
const ofOpaque = (make: (data: string) => unknown): fc.Arbitrary<Part> =>
  blob.map((data) => ({ ...NONE, value: make(data), opaque: 1 }));
const ofJson = (make: (given: unknown, name: string) => unknown): fc.Arbitrary<Part> =>
  fc.tuple(json, name).map(([given, called]) => ({ ...NONE, value: make(given, called), text: jsonOf(given) }));

/** A value that is made of several parts. */
function joined<Made>(parts: readonly Part[], value: Made): Part & { readonly value: Made } {
  const sum = (of: 'text' | 'ids' | 'files' | 'opaque'): number => parts.reduce((all, part) => all + part[of], 0);
  return { value, text: sum('text'), ids: sum('ids'), files: sum('files'), opaque: sum('opaque') };
}
const listOf = (parts: readonly fc.Arbitrary<Part>[], minLength = 0): fc.Arbitrary<Part> =>
  fc.array(fc.oneof(...parts), { minLength, maxLength: 5 }).map((all) =>
    joined(
      all,
      all.map(({ value }) => value),
    ),
  );
const withList = (list: fc.Arbitrary<Part>, make: (value: unknown) => unknown): fc.Arbitrary<Part> =>
  list.map((part) => ({ ...part, value: make(part.value) }));

/** A request of parts by the names of its parameters. */
function requestOf(parts: Readonly<Record<string, fc.Arbitrary<Part>>>, more: object = {}): fc.Arbitrary<ModelRequest> {
  const optional = Object.values(parts).map((part) => fc.option(part, { nil: undefined }));
  return fc.tuple(...optional).map((made) => {
    const names = Object.keys(parts);
    const given = names.flatMap((each, i) => (made[i] === undefined ? [] : [[each, made[i].value] as const]));
    const all = made.filter((part) => part !== undefined);
    return { ...joined(all, { model: 'a-model', ...Object.fromEntries(given), ...more }), answers: 1 };
  });
}

const plainText = ofText((given) => given);
const textPart = ofText((given) => ({ type: 'text', text: given }));
const tools = fc
  .array(fc.tuple(name, text, json), { minLength: 1, maxLength: 3 })
  .map((all) => all.map(([called, description, parameters]) => ({ name: called, description, parameters })))
  .map((value): Part => ({ ...NONE, value, text: jsonOf(value) }));

const chatMessage = fc.oneof(
  ofText((content) => ({ role: 'user', content })),
  withList(
    listOf([
      textPart,
      ofFile((data) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}`, detail: 'high' } })),
      ofFile(() => ({ type: 'image_url', image_url: { url: 'https://example.com/image.png' } })),
      ofFile((data) => ({ type: 'input_audio', input_audio: { data, format: 'wav' } })),
      ofFile(() => ({ type: 'file', file: { file_id: 'file-1' } })),
    ]),
    (content) => ({ role: 'user', content }),
  ),
  ofJson((given, called) => {
    const call = { name: called, arguments: JSON.stringify(given) };
    return { role: 'assistant', content: null, tool_calls: [{ id: 'call_1', type: 'function', function: call }] };
  }),
  ofText((content) => ({ role: 'tool', tool_call_id: 'call_1', content })),
);
const chat = requestOf({ messages: listOf([chatMessage]), tools, functions: tools });

const item = fc.oneof(
  ofText((given) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text: given }] })),
  ofText((content) => ({ role: 'developer', content })),
  ofFile((data) => ({
    role: 'user',
    content: [{ type: 'input_image', image_url: `data:image/png;base64,${data}`, detail: 'low' }],
  })),
  ofJson((given, called) => ({
    type: 'function_call',
    call_id: 'call_1',
    name: called,
    arguments: JSON.stringify(given),
  })),
  ofText((output) => ({ type: 'function_call_output', call_id: 'call_1', output })),
  ofText((input) => ({ type: 'custom_tool_call', call_id: 'call_1', name: 'a', input })),
  ofOpaque((encrypted_content) => ({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content })),
  ofOpaque((result) => ({ type: 'image_generation_call', id: 'ig_1', status: 'completed', result })),
);
const responses = requestOf({ input: fc.oneof(plainText, listOf([item])), instructions: plainText, tools });

const idsOf = (length: number): fc.Arbitrary<Part> =>
  fc
    .array(fc.nat(200_000), { minLength: 1, maxLength: length })
    .map((value) => ({ ...NONE, value, ids: value.length }));
const inputs = fc.oneof(plainText, listOf([plainText], 1), idsOf(2000), listOf([idsOf(50)], 1));
const embeddings = requestOf({ input: inputs });

const completions = fc
  .tuple(inputs, fc.option(fc.nat(20), { nil: undefined }), fc.nat(20), fc.boolean())
  .map(([prompt, n, best_of, asText]): ModelRequest => {
    const prompts = Array.isArray(prompt.value) && typeof prompt.value[0] !== 'number' ? prompt.value.length : 1;
    const value = { prompt: prompt.value, n: asText && n !== undefined ? `${n}` : n, best_of };
    return { ...prompt, value, answers: prompts * Math.max(1, n ?? 1, best_of) };
  });
const images = fc.tuple(text, fc.integer({ min: 1, max: 10 })).map(([prompt, n]): ModelRequest => ({
  ...NONE,
  value: { prompt, n, size: '1024x1024' },
  text: bytesOf(prompt),
  answers: n,
}));

const blocks = [
  textPart,
  ofFile((data) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })),
  ofFile(() => ({ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } })),
  ofText((data) => ({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } })),
  ofJson((input, called) => ({ type: 'tool_use', id: 'toolu_1', name: called, input })),
  ofText((content) => ({ type: 'tool_result', tool_use_id: 'toolu_1', content })),
  ofText((content) => ({ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: content }] })),
  ofText((thinking) => ({ type: 'thinking', thinking })),
  ofFile((data) => ({ type: 'redacted_thinking', data })),
];
const anthropicMessage = withList(fc.oneof(plainText, listOf(blocks)), (content) => ({ role: 'user', content }));
const anthropic = requestOf({
  system: fc.oneof(plainText, listOf([textPart])),
  messages: listOf([anthropicMessage]),
  tools,
});

/** Files of the AI SDK 5 and 6, and of 7. */
const sdkFile = fc.oneof(
  ofFile((data) => ({ type: 'file', mediaType: 'image/png', data })),
  ofFile((data) => ({ type: 'file', mediaType: 'application/pdf', data: Buffer.from(data, 'base64') })),
  ofFile((data) => ({ type: 'file', mediaType: 'image', data: { type: 'data', data } })),
  ofFile(() => ({
    type: 'file',
    mediaType: 'image/*',
    data: { type: 'url', url: new URL('https://example.com/a.png') },
  })),
  ofText((given) => ({ type: 'file', mediaType: 'text', data: { type: 'text', text: given } })),
);
const sdkOutput = fc.oneof(
  ofText((value) => ({ type: 'text', value })),
  ofJson((value) => ({ type: 'json', value })),
  withList(
    listOf([
      textPart,
      ofFile((data) => ({ type: 'media', mediaType: 'image/png', data })),
      ofFile((data) => ({ type: 'image-data', mediaType: 'image/png', data })),
      sdkFile,
    ]),
    (value) => ({ type: 'content', value }),
  ),
);
const sdkPart = [
  textPart,
  sdkFile,
  ofText((given) => ({ type: 'reasoning', text: given })),
  fc
    .tuple(
      ofJson((input) => input),
      label,
    )
    .map(([part, toolCallId]) => ({
      ...part,
      value: { type: 'tool-call', toolCallId, toolName: 'a', input: part.value },
    })),
  withList(sdkOutput, (output) => ({ type: 'tool-result', toolCallId: 'call_1', toolName: 'a', output })),
];
const sdkMessage = fc.oneof(
  ofText((content) => ({ role: 'system', content })),
  withList(listOf(sdkPart), (content) => ({ role: 'user', content })),
);

/** Requests in the formats of OpenAI and Anthropic. */
export const PLAIN_REQUESTS: Readonly<Record<string, fc.Arbitrary<ModelRequest>>> = {
  'chat.completions': chat,
  responses,
  embeddings,
  completions,
  images,
  messages: anthropic,
};

/** Call options of the AI SDK. */
export const SDK_REQUESTS: fc.Arbitrary<ModelRequest> = requestOf({ prompt: listOf([sdkMessage], 1), tools });
