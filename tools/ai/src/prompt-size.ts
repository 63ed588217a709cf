/** English has about four bytes to a token, and so have other scripts in UTF-8, more or less. */
const BYTES_OF_TOKEN = 4;

/** An image or a page takes about a thousand tokens; what a file has is known to the provider only. */
const SIZE_OF_FILE = 4000;

/** Tokens of so many bytes of text, rounded up. */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / BYTES_OF_TOKEN);
}

/** Where a value is: the name of its property, and what the object says of itself that has it. */
interface Place {
  name: string;
  /** The `type` of the object; `undefined` for parameters and messages. */
  readonly type?: unknown;
  /** The media type of a file. */
  readonly media?: unknown;
  readonly isListed?: boolean;
}

/** Texts whatever they look like: what a user writes there, a provider reads as text. */
const TEXTS: ReadonlySet<string> = new Set(
  (
    'text content contents input output arguments prompt instructions system thinking reasoning reasoning_content refusal name ' +
    'description query queries value values reason title context code logs stdout stderr message preamble texts documents suffix'
  ).split(' '),
);

/** What a model is not shown. */
const NOT_SHOWN: ReadonlySet<string> = new Set(
  (
    'annotations citations sources logprobs metadata providerOptions providerMetadata cache_control model user stop ' +
    'stop_sequences logit_bias'
  ).split(' '),
);

/** What models are shown as JSON. */
const SCHEMAS: ReadonlySet<string> = new Set(
  (
    'tools functions response_format responseFormat text output_config output_format ' +
    'arguments args response parameters'
  ).split(' '),
);

/** Lists of messages. */
const MESSAGES: ReadonlySet<string> = new Set(['messages', 'input', 'prompt', 'contents']);

/** Servers add about four tokens to each message, so that many without a text are no small prompt. */
const SIZE_OF_MESSAGE = 16;

/** Parameters whose numbers are tokens. */
const TOKEN_IDS: ReadonlySet<string> = new Set(['input', 'prompt']);

/** Where a text may name a file, or be one. */
const FILES: ReadonlySet<string> = new Set(
  'data file_data image_url file_url url uri file_uri fileUri file_id fileId reference b64_json'.split(' '),
);

/** Objects that name what a model has read as text, and no file that it is shown. */
const NAMES_SOURCES = /citation|result|search|page/;

/** What is encrypted, or the bytes of an image that a model has made. */
const OPAQUE = /^(encrypted_\w+|signature|thought_?signature|result|partial_image_b64)$/i;

const BASE64 = /^[\w+/=\r\n-]+$/;
/** In a random text of this length are capitals, small letters and digits. */
const RANDOM_LENGTH = 256;

/** The longest identifier: it says what something is, and is not shown to a model. */
const LABEL_LENGTH = 64;

const TEXT_MEDIA = /^(text\/|text$|application\/(json|xml|yaml|x-yaml|javascript))/;

/**
 * The size of what a model is shown, in bytes of text: a token counts as four, a file as 4,000, or as its text where that is
 * more. It goes by types and values: a text that has the form of base64 is bytes only where no text can be.
 *
 * @param prompt - Parameters of a call, in any interface of OpenAI, Anthropic or the AI SDK.
 */
export function promptSize(prompt: unknown, at: Place = { name: '' }): number {
  if (typeof prompt === 'string') return sizeOfString(prompt, at);
  if (typeof prompt === 'number') return at.isListed === true && isTokenId(at) ? BYTES_OF_TOKEN : 0;
  if (typeof prompt !== 'object' || prompt === null) return 0;
  if (isJson(prompt, at)) return textSize(JSON.stringify(prompt) ?? '');
  if (Array.isArray(prompt)) {
    const place = { name: at.name, type: at.type, media: at.media, isListed: true };
    let size = 0;
    for (const each of prompt) size += promptSize(each, place);
    return isMessages(prompt, at) ? Math.max(size, (prompt.length - 1) * SIZE_OF_MESSAGE) : size;
  }
  if (isBytes(prompt)) return fileSize(prompt, at.media);
  if (at.name === 'reference' || at.name === 'fileId') return SIZE_OF_FILE;
  return sizeOfObject(prompt as Readonly<Record<string, unknown>>, at);
}

function sizeOfObject(object: Readonly<Record<string, unknown>>, at: Place): number {
  const { type, mediaType, mimeType = mediaType, media_type = mimeType } = object;
  const media = media_type ?? (at.name === 'data' ? at.media : undefined);
  // One place for all properties: a call has many.
  const place: Place = { name: '', type, media, isListed: false };
  let size = 0;
  for (const name of Object.keys(object)) {
    if (NOT_SHOWN.has(name)) continue;
    place.name = name;
    size += promptSize(object[name], place);
  }
  return size;
}

function isMessages([one]: readonly unknown[], { name, type }: Place): boolean {
  return type === undefined && MESSAGES.has(name) && typeof one === 'object' && !Array.isArray(one);
}

function isTokenId({ name, type }: Place): boolean {
  return type === undefined && TOKEN_IDS.has(name);
}

/** Whether a model is shown an object as JSON: a schema, what it has called a tool with, or what the tool has returned. */
function isJson(object: object, { name, type }: Place): boolean {
  if (type === undefined) return SCHEMAS.has(name);
  if (name === 'output') return type === 'tool-result' && (object as { readonly type?: unknown }).type !== 'content';
  return name === 'input' || name === 'arguments';
}

function isBytes(object: object): boolean {
  if (ArrayBuffer.isView(object) || object instanceof ArrayBuffer || object instanceof URL) return true;
  const { arrayBuffer, pipe, getReader } = object as Readonly<Record<string, unknown>>;
  return [arrayBuffer, pipe, getReader].some((method) => typeof method === 'function');
}

function sizeOfString(text: string, { name, type, media, isListed }: Place): number {
  if (TEXTS.has(name) || (name === 'data' && type === 'text')) return textSize(text);
  if (text.startsWith('data:')) return fileSize(text, text.slice('data:'.length));
  if (FILES.has(name) && !(typeof type === 'string' && NAMES_SOURCES.test(type))) return fileSize(text, media);
  if (isOpaque(text, name)) return Math.min(text.length, SIZE_OF_FILE);
  return isListed !== true && text.length <= LABEL_LENGTH && !/\s/.test(text) ? 0 : textSize(text);
}

function isOpaque(text: string, name: string): boolean {
  if (!BASE64.test(text)) return false;
  return (
    OPAQUE.test(name) || (text.length >= RANDOM_LENGTH && [/[a-z]/, /[A-Z]/, /\d/].every((each) => each.test(text)))
  );
}

/** The size of a file: bytes, base64, or what names it. */
function fileSize(file: object | string, media: unknown): number {
  if (typeof file === 'string' && !BASE64.test(file) && /\s/.test(file)) return Math.max(SIZE_OF_FILE, textSize(file));
  if (typeof media !== 'string' || !TEXT_MEDIA.test(media)) return SIZE_OF_FILE;
  const { byteLength = 0 } = file as { readonly byteLength?: number };
  return Math.max(SIZE_OF_FILE, typeof file === 'string' ? Math.ceil((file.length * 3) / 4) : byteLength);
}

const NOT_ASCII = /[\u0080-\uffff]/;
const encoder = new TextEncoder();

/** The bytes of a text in UTF-8. */
function textSize(text: string): number {
  return NOT_ASCII.test(text) ? encoder.encode(text).length : text.length;
}
