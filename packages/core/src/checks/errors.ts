import { inspect } from 'node:util';

/** Every code that an error of Sluice can carry; the page of errors has an anchor for each. */
export type ErrorCode =
  | 'ERR_OPTION'
  | 'ERR_UNKNOWN_OPTION'
  | 'ERR_DURATION'
  | 'ERR_LIMIT'
  | 'ERR_LIMIT_IN_USE'
  | 'ERR_UNKNOWN_LIMIT'
  | 'ERR_OVERRIDE'
  | 'ERR_LIMIT_FILES'
  | 'ERR_ID'
  | 'ERR_KEY'
  | 'ERR_CIDR'
  | 'ERR_COST'
  | 'ERR_COST_OVER_BURST'
  | 'ERR_DUPLICATE_BUCKET'
  | 'ERR_FOREIGN_DECISION'
  | 'ERR_NO_CLIENT_ADDRESS'
  | 'ERR_STORE_BUCKET'
  | 'ERR_STORE_ANSWER'
  | 'ERR_STORE_DEADLINE'
  | 'ERR_STORE_UNAVAILABLE'
  | 'ERR_CLOSED';

/**
 * The one error class of Sluice. It means wrong use or wrong data: a denial is a value, never an error.
 *
 * `status` (and `statusCode`, for Fastify) is what a framework's error handler should answer: 400 when the
 * client's own data is at fault (an id or a cost taken from the request), otherwise 500.
 */
export class SluiceError extends Error {
  override readonly name = 'SluiceError';
  readonly code: ErrorCode;
  readonly status: 400 | 500;
  readonly statusCode: 400 | 500;

  constructor(code: ErrorCode, message: string, details: { status?: 400 | 500; cause?: unknown } = {}) {
    super(visibleLines(message), 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.status = details.status ?? 500;
    this.statusCode = this.status;
  }
}

/** What a complaint about a value says: which option, what it must be, what it was, and what to write instead. */
export interface Complaint {
  readonly option: string;
  /** The limit that it is about, where the option itself does not name it. */
  readonly limit?: string;
  readonly demand: string;
  readonly value: unknown;
  readonly remedy?: string;
  readonly status?: 400 | 500;
}

/** Makes the error for a value that breaks a demand: "`burst` must be …, but was 0. For … use …". */
export function complaint(code: ErrorCode, given: Complaint): SluiceError {
  const { option, limit, demand, value, remedy, status = 500 } = given;
  const owner = limit === undefined ? '' : ` of limit "${shownName(limit)}"`;
  const advice = remedy === undefined ? '' : ` ${remedy}`;
  const what = `\`${shownText(option, 300)}\`${owner} must be ${demand}, but was ${shown(value)}.`;
  return new SluiceError(code, what + advice, { status });
}

// A class may inspect itself by code of its own, at any length, or throw from it.
const INSPECTION = {
  depth: 1,
  breakLength: Infinity,
  maxStringLength: 80,
  maxArrayLength: 5,
  customInspect: false,
} as const;

/** A value as an error message shows it: on one line, short, whatever it is. Never throws. */
export function shown(value: unknown): string {
  return shownLines(inspected(value), 200);
}

/** A name as a message shows it: on one line and short, whoever chose it. Ordinary names are shown as they are. */
export function shownName(name: string): string {
  return shownText(name, 80);
}

/** Names as a message lists them: of many the first ones, and how many more there are. */
export function listed(names: Iterable<string>): string {
  const all = [...names];
  const first = all.slice(0, MAX_LISTED).map(shownName).join(', ');
  return all.length > MAX_LISTED ? `${first} and ${all.length - MAX_LISTED} more` : first;
}

const MAX_LISTED = 30;

/**
 * Any text as a message shows it: at most `maxLength` characters and one that stands for the rest, and instead of those
 * that are not seen, or that move others (line ends, control characters, marks of direction, halves of surrogate pairs),
 * their code points: `\u{202e}`. Whatever a message shows goes through here.
 */
export function shownText(text: string, maxLength: number): string {
  const beginning = visible(text.slice(0, maxLength + 1));
  if (text.length <= maxLength && beginning.length <= maxLength) return beginning;
  // Neither half of a surrogate pair nor of a code point that is written out stands at the end.
  return `${beginning.slice(0, maxLength).replace(/[\ud800-\udbff]$|\\u?(?:\{[\da-f]*)?$/, '')}…`;
}

/** Text of several lines on one. What is beyond the longest message is not looked at. */
function shownLines(text: string, maxLength: number): string {
  const lines = text.slice(0, 4 * maxLength).split('\n');
  const filled = lines.map((line) => line.trim()).filter((line) => line !== '');
  return shownText(filled.join(' '), maxLength);
}

// A net below the messages themselves. Line feeds stay: one message has a line for each of several problems.
function visibleLines(message: string): string {
  return message.split('\n').map(visible).join('\n');
}

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

function inspected(value: unknown): string {
  try {
    return inspect(value, INSPECTION);
  } catch {
    // A getter, a Proxy or a `toString` in it throws.
    return `${typeof value === 'function' ? 'a function' : 'an object'} that can't be inspected`;
  }
}

/** What was thrown, as a part of a sentence, hence without a full stop: it may be anything. Never throws. */
export function reasonOf(cause: unknown): string {
  const reason = describedBy(cause, (name, message) =>
    // Ours say what they are in their words.
    shownLines(name === 'SluiceError' ? message : `${name}: ${message}`, MAX_REASON_LENGTH),
  );
  return reason.replace(/[.:]$/, '');
}

/** The message of what was thrown, as a part of another message: it may be anything. Never throws. */
export function messageOf(cause: unknown): string {
  return describedBy(cause, (_name, message) => shownLines(message, MAX_REASON_LENGTH));
}

/** Longer than any message of ours about one thing. */
const MAX_REASON_LENGTH = 1000;

function describedBy(cause: unknown, describe: (name: string, message: string) => string): string {
  try {
    if (cause instanceof Error) {
      // They may be anything: an error is what its thrower made of it.
      const { name, message }: { readonly name: unknown; readonly message: unknown } = cause;
      return describe(String(name), String(message));
    }
  } catch {
    // A getter or a Proxy throws: what can be seen of it without it is shown.
  }
  return shown(cause);
}

/** Whether a value from outside is an instance of a class. A Proxy that does not let itself be asked is of none. */
export function isInstance<T>(value: unknown, Class: abstract new (...args: never) => T): value is T {
  try {
    return value instanceof Class;
  } catch {
    return false;
  }
}
