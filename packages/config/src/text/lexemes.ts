/** The lexer's own sign. */
const SCALAR_FOLLOWS = '\u001F';

/**
 * Knows what each lexeme of a text is, and where the lines between values end that hold nothing: empty ones, and those of
 * a comment alone. The YAML library takes a microsecond for each of those, which is 20 s for 15 MB of line feeds.
 */
export class Lexemes {
  readonly #text: string;
  #last = '';
  #isScalar = false;
  #isBlockScalar = false;
  /** How many anchors and tags there are since the last value. */
  properties = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** How long the last lexeme is, if it is a scalar, in quotes or not; otherwise 0. */
  get scalarLength(): number {
    return this.#isScalar ? this.#last.length : 0;
  }

  /** Takes the next lexeme. Each of the text has to be told. */
  take(lexeme: string): void {
    const isPlain = this.#last === SCALAR_FOLLOWS;
    const first = isPlain ? '' : lexeme.charAt(0);
    this.#last = lexeme;
    this.#isScalar = isPlain || first === '"' || first === "'";
    if (first !== '' && ' \t\r\n#'.includes(first)) return;
    // Behind `|` and `>`, spaces and a comment, there are lines that are text whatever they hold.
    this.#isBlockScalar = first === '|' || first === '>';
    this.properties = first === '&' || first === '!' ? this.properties + 1 : 0;
  }

  /** The lines behind the last lexeme, which ends at `end`, that hold nothing. */
  idleAfter(end: number): string {
    if (this.#isScalar || this.#isBlockScalar || !this.#last.endsWith('\n')) return '';
    return this.#text.slice(end, endOfIdle(this.#text, end));
  }
}

function endOfIdle(text: string, start: number): number {
  let end = start;
  for (let next = endOfLineIfIdle(text, end); next > end; next = endOfLineIfIdle(text, end)) end = next;
  return end;
}

const [LINE_FEED, CARRIAGE_RETURN, SPACE, TAB, NUMBER_SIGN] = [0x0a, 0x0d, 0x20, 0x09, 0x23];

/** Where the next line begins, if this one holds nothing; otherwise where this one begins. */
function endOfLineIfIdle(text: string, start: number): number {
  let at = start;
  let code = text.charCodeAt(at);
  while (code === SPACE || code === TAB) code = text.charCodeAt(++at);
  if (code === NUMBER_SIGN) at = endOfLine(text, at);
  else if (code === CARRIAGE_RETURN) at++;
  if (at === text.length) return at;
  return text.charCodeAt(at) === LINE_FEED ? at + 1 : start;
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}
