import type { LineReceiver } from '../reading/line-splitter.ts';
import { JsonParser } from './json-parser.ts';

/** Receives a line, or what is in it: `bytes[start]` to `bytes[end - 1]`. */
type TakeLine = (bytes: Buffer, start: number, end: number) => void;

/** What a collector of logs has added to each line of a server. */
export interface Envelope {
  /** For people, after the name of a format: `in JSON`. */
  readonly name: string;
  /**
   * Passes on what the server had written.
   *
   * @returns False for a line without the envelope.
   */
  open(bytes: Buffer, start: number, end: number, take: TakeLine): boolean;
}

const TIMESTAMP = String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?`;

/** What is written before lines, in the order in which it is: by kubectl or docker compose, and then by one of the others. */
const PREFIXES = [
  // kubectl logs --prefix, docker compose logs
  String.raw`(?:\[pod/\S+\] |[\w.-]+ +\| )?`,
  '(?:',
  [
    // Kubernetes, by containerd and CRI-O
    String.raw`${TIMESTAMP} (?:stdout|stderr) [FP] `,
    // syslog: RFC 5424
    String.raw`<\d+>\d ${TIMESTAMP} \S+ \S+ \S+ \S+ (?:-|\[.*?[^\\]\]) `,
    // syslog: RFC 3164, rsyslog and journalctl
    String.raw`(?:<\d+>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|${TIMESTAMP}) (?:\S+ )?[^\s\[:]+(?:\[\d+\])?: `,
    // kubectl logs --timestamps, docker logs --timestamps
    `${TIMESTAMP} `,
  ].join('|'),
  ')?',
].join('');
/** No prefix is longer. */
const MAX_PREFIX = 512;

class PrefixEnvelope implements Envelope {
  readonly name = 'after a prefix';
  readonly #prefix = new RegExp(PREFIXES, 'y');

  open(bytes: Buffer, start: number, end: number, take: TakeLine): boolean {
    this.#prefix.lastIndex = 0;
    this.#prefix.test(bytes.toString('latin1', start, Math.min(end, start + MAX_PREFIX)));
    const length = this.#prefix.lastIndex;
    if (length === 0) return false;
    take(bytes, start + length, end);
    return true;
  }
}

/** Where collectors put the line of a server in an object of JSON: Docker, Fluent Bit, Google Cloud, journald. */
const TEXTS = ['log', 'message', 'textPayload', 'MESSAGE', 'line'];
const [BACKSLASH, NEWLINE, RETURN] = [92, 10, 13];
const ESCAPES: Readonly<Record<string, number>> = { b: 8, f: 12, n: 10, r: 13, t: 9 };

class JsonEnvelope implements Envelope {
  readonly name = 'in JSON';
  readonly #parser = new JsonParser([TEXTS]);
  readonly #span = new Int32Array(2);
  #text = Buffer.alloc(1024);

  open(bytes: Buffer, start: number, end: number, take: TakeLine): boolean {
    if (!this.#parser.parse(bytes, start, end, this.#span) || this.#span[0] === -1) return false;
    const [from, to] = [this.#span[0]!, this.#span[1]!];
    const escape = bytes.indexOf(BACKSLASH, from);
    if (escape === -1 || escape >= to) take(bytes, from, to);
    else take(this.#text, 0, this.#unescape(bytes, from, to));
    return true;
  }

  /** Resolves the escapes of JSON, and leaves out the line end. Returns how many bytes the text has. */
  #unescape(bytes: Buffer, from: number, to: number): number {
    if (this.#text.length < to - from) this.#text = Buffer.alloc(2 * (to - from));
    const text = this.#text;
    let length = 0;
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      if (byte !== BACKSLASH) text[length++] = byte;
      else {
        const letter = String.fromCharCode(bytes[++at]!);
        if (letter === 'u') {
          length += text.write(String.fromCharCode(parseInt(bytes.toString('latin1', at + 1, at + 5), 16)), length);
          at += 4;
        } else text[length++] = ESCAPES[letter] ?? bytes[at]!;
      }
    }
    while (length > 0 && (text[length - 1] === NEWLINE || text[length - 1] === RETURN)) length--;
    return length;
  }
}

/** One envelope in another. */
class NestedEnvelope implements Envelope {
  readonly name: string;
  readonly #outer: Envelope;
  readonly #inner: Envelope;

  constructor(outer: Envelope, inner: Envelope) {
    this.name = `${inner.name} ${outer.name}`;
    this.#outer = outer;
    this.#inner = inner;
  }

  open(bytes: Buffer, start: number, end: number, take: TakeLine): boolean {
    let isOpen = false;
    this.#outer.open(bytes, start, end, (inside, from, to) => {
      isOpen = this.#inner.open(inside, from, to, take);
    });
    return isOpen;
  }
}

/** All envelopes, in the order in which they are tried. */
export function envelopes(): readonly Envelope[] {
  const [prefix, json] = [new PrefixEnvelope(), new JsonEnvelope()];
  return [prefix, json, new NestedEnvelope(json, prefix), new NestedEnvelope(prefix, json)];
}

/** Opens the envelope of each line. A line without it is passed on as it is. */
export class EnvelopeOpener implements LineReceiver {
  readonly #envelope: Envelope;
  readonly #receiver: LineReceiver;
  readonly #take: TakeLine;

  constructor(envelope: Envelope, receiver: LineReceiver) {
    this.#envelope = envelope;
    this.#receiver = receiver;
    this.#take = (bytes, start, end) => receiver.line(bytes, start, end);
  }

  line(bytes: Buffer, start: number, end: number): void {
    if (!this.#envelope.open(bytes, start, end, this.#take)) this.#receiver.line(bytes, start, end);
  }

  longLine(): void {
    this.#receiver.longLine();
  }
}
