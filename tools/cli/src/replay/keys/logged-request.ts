import { isHeader, type FieldName } from '../formats/line-parser.ts';
import { fieldText } from '../entries/field-text.ts';

/** Where the values of the fields are, and the line if it is JSON; otherwise its end is its start. */
interface LoggedLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly spans: Int32Array;
}

/** Headers that a key function often reads, and that a JSON log may have under another name. */
const HEADERS = [
  'user-agent',
  'referer',
  'host',
  'authorization',
  'x-api-key',
  'x-forwarded-for',
  'forwarded',
  'cookie',
];

/** A request of a log in the shape of a request of a server, for the key functions of the user. */
export class LoggedRequest {
  /** The fields that it reads from a line of any format, with all headers. */
  static readonly FIELDS: readonly FieldName[] = [
    'address',
    'request',
    'method',
    'path',
    ...HEADERS.map((name) => `header:${name}`),
  ];
  readonly #fields: readonly FieldName[];
  readonly #line: LoggedLine;

  /** @param fields - All fields of the spans. */
  constructor(fields: readonly FieldName[], line: LoggedLine) {
    this.#fields = fields;
    this.#line = line;
  }

  get address(): string {
    return this.text('address') ?? '';
  }

  /**
   * The request: `method`, `url`, `headers`, `socket.remoteAddress`, and `log` with the whole object of a line of JSON. What
   * the log has in `req` or `request`, such as `req.user`, is there too.
   */
  get shape(): unknown {
    const log = this.#line.end > this.#line.start ? this.#parsed() : undefined;
    const own = log?.['req'] ?? log?.['request'];
    const [method, url] = this.#target();
    const headers: Record<string, string> = {};
    for (const field of this.#fields.filter(isHeader)) {
      const value = this.text(field);
      if (value !== undefined) headers[field.slice('header:'.length)] = value;
    }
    return {
      ...(isObject(own) && own),
      method,
      url,
      originalUrl: url,
      headers: { ...headersIn(log), ...headersIn(own), ...headers },
      socket: { remoteAddress: this.address },
      log,
    };
  }

  #target(): readonly [string, string] {
    const request = this.text('request');
    if (request === undefined) return [this.text('method') ?? 'GET', this.text('path') ?? '/'];
    const [method = 'GET', url = '/'] = request.split(' ');
    return [method, url];
  }

  #parsed(): Readonly<Record<string, unknown>> | undefined {
    const { bytes, start, end } = this.#line;
    try {
      const log: unknown = JSON.parse(bytes.toString('utf8', start, end));
      return isObject(log) ? log : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns the value of a field; undefined if the line does not have it. */
  text(field: FieldName): string | undefined {
    const number = this.#fields.indexOf(field);
    const { bytes, spans } = this.#line;
    if (number === -1 || spans[2 * number] === -1) return undefined;
    return fieldText(bytes, spans[2 * number]!, spans[2 * number + 1]!);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Some logs write a header as a list of its lines. */
function headersIn(value: unknown): Record<string, unknown> {
  const headers = isObject(value) ? value['headers'] : undefined;
  const entries = Object.entries(isObject(headers) ? headers : {});
  return Object.fromEntries(
    entries.map(([name, lines]) => [name.toLowerCase(), Array.isArray(lines) ? lines[0] : lines]),
  );
}
