/** The lexer emits this character before each plain or block scalar. */
const SCALAR_FOLLOWS = '\u001F';

/**
 * Classifies the lexemes of a text, and finds idle lines between values: empty lines, and lines with only a comment.
 * The YAML library takes more than a microsecond for each idle line, which is 20 s for 15 MB of line feeds.
 */
export class Lexemes {
  readonly #text: string;
  #last = '';
  #isScalar = false;
  #isBlockScalar = false;
  /** The number of anchors and tags since the last value. */
  properties = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The length of the last lexeme if it is a scalar, quoted or not; otherwise 0. */
  get scalarLength(): number {
    return this.#isScalar ? this.#last.length : 0;
  }

  /** Takes the next lexeme. Call it for every lexeme of the text. */
  take(lexeme: string): void {
    const isPlain = this.#last === SCALAR_FOLLOWS;
    const first = isPlain ? '' : lexeme.charAt(0);
    this.#last = lexeme;
    this.#isScalar = isPlain || first === '"' || first === "'";
    if (first !== '' && ' \t\r\n#'.includes(first)) return;
    // After `|` or `>`, with optional spaces and a comment, lines belong to a block scalar even if they look idle.
    this.#isBlockScalar = first === '|' || first === '>';
    this.properties = first === '&' || first === '!' ? this.properties + 1 : 0;
  }

  /** Returns the idle lines directly after the last lexeme, which ends at `end`. */
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

/** Returns where the next line begins if this line is idle; otherwise where this line begins. */
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
