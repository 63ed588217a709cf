// The room checks: errors, the validation of options, hints for names of other libraries.
import { inspect } from '../runtime/inspect.ts';

/** All codes of {@link SluiceError}. docs/errors.md begins its section about each with the comment here. */
export type ErrorCode =
  /** An option is missing or has an invalid value. */
  | 'ERR_OPTION'
  /**
   * The option does not exist. The message names all unknown options at once, and for each the option that was
   * probably meant.
   */
  | 'ERR_UNKNOWN_OPTION'
  /**
   * A duration is not valid: it must be a text with a unit, such as `'500ms'` or `'1h30m'`, or a number of
   * milliseconds from 1000 up.
   */
  | 'ERR_DURATION'
  /** The definition of a limit is not valid. */
  | 'ERR_LIMIT'
  /**
   * Two limiters of one process have a limit of the same name on one store, with other numbers, another kind or
   * another format of ids. Share one limiter, rename one of the limits, or close the limiter that is no longer used.
   */
  | 'ERR_LIMIT_IN_USE'
  /** The limit does not exist. The message lists the limits that exist. */
  | 'ERR_UNKNOWN_LIMIT'
  /**
   * An override names an unknown limit, an id that is not valid or is there twice, or has numbers of another kind
   * than the limit. Correct the entry that the message names.
   */
  | 'ERR_OVERRIDE'
  /**
   * A file of limits, or the result of a function in its place, has mistakes, of which the message has one line each.
   * All files are rejected; on a reload the previous numbers stay in use.
   */
  | 'ERR_LIMIT_FILES'
  /**
   * A text is not a valid id for the key of the limit: it is empty, not an address, a network with host bits set, an
   * account id with control characters or more than 256 characters, or any id with more than 4,096.
   */
  | 'ERR_ID'
  /**
   * A limit has no key, its key has no function, or the function returned a value that is not an id, such as
   * `undefined`, `NaN` or an object.
   */
  | 'ERR_KEY'
  /**
   * An entry of `trustedProxies` is not an address, a network, `loopback`, `private` or `unix`; or it has host bits
   * set (`10.0.0.1/8`), or covers everybody (`0.0.0.0/0`).
   */
  | 'ERR_CIDR'
  /** A cost must be a whole number of tokens, 0 or more. For half a token, double `burst`, `count` and all costs. */
  | 'ERR_COST'
  /**
   * A cost is above the burst, the `count` of a quota, or the share of the request, so the request could never pass.
   * Raise these, or lower the cost.
   */
  | 'ERR_COST_OVER_BURST'
  /**
   * One decision, `charge`, `refund` or `reset` has the same limit and id twice. List it once, with the sum of the
   * costs.
   */
  | 'ERR_DUPLICATE_BUCKET'
  /**
   * `refund(decision)` was called on another limiter than the one that made the decision. Call it there, or
   * `req.rateLimit.refund()`; for tokens regardless of decisions, `limiter.refund([{ limit, id, cost }])`.
   */
  | 'ERR_FOREIGN_DECISION'
  /** A limit by address had to decide a request without an address. */
  | 'ERR_NO_CLIENT_ADDRESS'
  /**
   * A request has as many header lines as the server keeps (1,000, or `server.maxHeadersCount`), so that those of a
   * trusted proxy may be lost. It is answered with 431.
   */
  | 'ERR_TOO_MANY_FIELDS'
  /** The store works, but could not decide this one request. The failure policies have decided it. */
  | 'ERR_STORE_BUCKET'
  /**
   * A call named calendar periods in which the clock of the store does not lie, and changed nothing. A limiter
   * repeats such calls; if it throws this error, synchronize the clocks of the process and the store.
   */
  | 'ERR_STORE_PERIOD'
  /**
   * The store returned an invalid result. This is a bug in the store: run the contract tests against your own, or
   * report it.
   */
  | 'ERR_STORE_ANSWER'
  /**
   * The tables or functions in PostgreSQL are missing, have another version, or may not be used. The message names
   * the case.
   */
  | 'ERR_STORE_SCHEMA'
  /**
   * The store did not answer within `failure.deadlineMs`, and the failure policies have decided. A single late answer
   * needs no action.
   */
  | 'ERR_STORE_DEADLINE'
  /**
   * This process has made more calls at once than PostgreSQL answers within `failure.deadlineMs`. The failure
   * policies have decided those that were left. Raise the deadline, or make fewer decisions at a time.
   */
  | 'ERR_STORE_OVERLOAD'
  /** The store can't be reached. The message names the server and the cause. */
  | 'ERR_STORE_UNAVAILABLE'
  /** The runtime can't do what a limit needs. Each request for which it matters fails. */
  | 'ERR_RUNTIME'
  /**
   * A limiter or a store was used after it was closed, usually during a shutdown. Close the server first, and then
   * the limiter.
   */
  | 'ERR_CLOSED'
  /**
   * A scheduler has not begun a call: see its `reason`. Nothing was taken for it, or what was taken was given back.
   */
  | 'ERR_NOT_BEGUN'
  /**
   * Work that holds a slot has called `run` of its scheduler for the same limit and id: both might wait for each other
   * forever. Call it after the work, or use another limit.
   */
  | 'ERR_NESTED'
  /**
   * `restore()` of a memory store got something else than a whole dump of this version, or the store had buckets
   * already. The store has not changed: begin with an empty one.
   */
  | 'ERR_DUMP';

/**
 * Who can do something about an error.
 *
 * - `use`: the code that uses Sluice, or its configuration.
 * - `input`: the client; its request contains an invalid id or cost, for which `status` is 400, or too many header fields (431).
 * - `store`: the operator; the store, or one bucket in it, can't answer.
 */
export type ErrorKind = 'use' | 'input' | 'store';

const STORE_ERRORS: ReadonlySet<ErrorCode> = new Set([
  'ERR_STORE_BUCKET',
  'ERR_STORE_PERIOD',
  'ERR_STORE_ANSWER',
  'ERR_STORE_SCHEMA',
  'ERR_STORE_DEADLINE',
  'ERR_STORE_OVERLOAD',
  'ERR_STORE_UNAVAILABLE',
] as const);

/**
 * The error class of Sluice. An error means wrong use, invalid data, or a store that can't answer; a denial is a value,
 * never an error.
 *
 * `status`, and `statusCode` for Fastify, is the HTTP status for a framework's error handler: 400 when the client's own
 * data is invalid (an id or a cost taken from the request), 431 when it has too many header fields, otherwise 500.
 */
export class SluiceError extends Error {
  override readonly name = 'SluiceError';
  /** What is wrong; docs/errors.md explains each code. */
  readonly code: ErrorCode;
  /** Who can do something about it. */
  readonly kind: ErrorKind;
  /** The HTTP status for an error handler. */
  readonly status: 400 | 431 | 500;
  /** The same as `status`, for Fastify. */
  readonly statusCode: 400 | 431 | 500;
  /**
   * The path of the option that is wrong, as in the message: `limits.Orders.count`. Left out where the error is about no
   * option.
   */
  declare readonly path?: string;
  /** The message is for developers, not for clients. `http-errors`, Koa and NestJS 12 read this. */
  readonly expose = false;

  /** The message, which follows the path where there is one. */
  readonly #text: string;

  /** @param message - With a `path`, what is wrong with that option: `has no option …`. */
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { path } = details;
    const whole = path === undefined ? message : `\`${shownText(path, MAX_PATH_LENGTH)}\` ${message}`;
    super(visibleLines(whole), 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.#text = message;
    if (path !== undefined) this.path = path;
    this.status = details.status ?? 500;
    this.statusCode = this.status;
    this.kind = STORE_ERRORS.has(code) ? 'store' : this.status === 500 ? 'use' : 'input';
  }

  /** Returns the same error about an option with another path: that which the caller of a caller wrote. */
  withPath(path: string): SluiceError {
    const { status, cause } = this;
    return new SluiceError(this.code, this.#text, { status, path, ...(cause !== undefined && { cause }) });
  }
}

const MAX_PATH_LENGTH = 300;

/** What a {@link SluiceError} has besides its code and its message. */
interface ErrorDetails {
  readonly status?: 400 | 431 | 500;
  readonly cause?: unknown;
  readonly path?: string;
}

/**
 * The parts of a message about an invalid value: the option, the allowed values, the value, and what to write instead.
 */
export interface Complaint {
  readonly option: string;
  /** The name of the limit, if `option` does not contain it. */
  readonly limit?: string;
  readonly demand: string;
  readonly value: unknown;
  readonly remedy?: string;
  readonly status?: 400 | 500;
}

/** Creates the error for an invalid value: "`burst` must be …, but was 0. For … use …". */
export function complaint(code: ErrorCode, given: Complaint): SluiceError {
  const { option, limit, demand, value, remedy, status = 500 } = given;
  const owner = limit === undefined ? '' : `of limit "${shownName(limit)}" `;
  const advice = remedy === undefined ? '' : ` ${remedy}`;
  return new SluiceError(code, `${owner}must be ${demand}, but was ${shown(value)}.${advice}`, {
    status,
    path: option,
  });
}

/** Formats any value for an error message: on one line, at most 200 characters and an ellipsis. Never throws. */
export function shown(value: unknown): string {
  return isInstance(value, ValueInWords) ? shownName(value.words) : shownLines(inspected(value), 200);
}

/** Stands for a value in a message that must not show it, or that has better words for it: `a mapping`. */
export class ValueInWords {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

/** What a message says of a value that may contain a password: its type, or its class. */
export function classInWords(value: unknown): ValueInWords {
  if (value === null || value === undefined) return new ValueInWords(String(value));
  if (typeof value !== 'object') return new ValueInWords(`a ${typeof value}`);
  const { name } = (Object.getPrototypeOf(value) as object | null)?.constructor ?? Object;
  return new ValueInWords(name === 'Object' ? 'an object' : `an object of ${name}`);
}

/** Formats a name for a message: on one line, at most 80 characters and an ellipsis. Ordinary names are unchanged. */
export function shownName(name: string): string {
  return shownText(name, 80);
}

/** Formats a list of names for a message: the first 30, and the number of the others. */
export function listed(names: Iterable<string>): string {
  const all = [...names];
  const first = all.slice(0, MAX_LISTED).map(shownName).join(', ');
  return all.length > MAX_LISTED ? `${first} and ${all.length - MAX_LISTED} more` : first;
}

const MAX_LISTED = 30;

/**
 * Formats any text for a message: at most `maxLength` characters and an ellipsis. Characters that are invisible or that
 * reorder others (line ends, control characters, marks of direction, halves of surrogate pairs) are replaced by their
 * code points: `\u{202e}`. All text from outside goes through this function before it is part of a message.
 */
export function shownText(text: string, maxLength: number): string {
  const beginning = visible(text.slice(0, maxLength + 1));
  if (text.length <= maxLength && beginning.length <= maxLength) return beginning;
  // Do not cut in the middle of a surrogate pair, or of a code point that was written out.
  return `${beginning.slice(0, maxLength).replace(/[\ud800-\udbff]$|\\u?(?:\{[\da-f]*)?$/, '')}…`;
}

/** Joins lines into one. Reads only the beginning of a text that is much longer than the limit. */
function shownLines(text: string, maxLength: number): string {
  const lines = text.slice(0, 4 * maxLength).split('\n');
  const filled = lines.map((line) => line.trim()).filter((line) => line !== '');
  return shownText(filled.join(' '), maxLength);
}

// A safety net below the formatting of the messages themselves. Line feeds are kept, because a message can list several
// problems, one on each line.
function visibleLines(message: string): string {
  return message.split('\n').map(visible).join('\n');
}

const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

function inspected(value: unknown): string {
  try {
    return inspect(value);
  } catch {
    // A getter, a Proxy or a `toString` method threw.
    return `${typeof value === 'function' ? 'a function' : 'an object'} that can't be inspected`;
  }
}

/** Formats a thrown value of any kind as part of a sentence, without a full stop at the end. Never throws. */
export function reasonOf(cause: unknown): string {
  const reason = describedBy(cause, (name, message) =>
    // The message of a SluiceError is clear without its class name.
    shownLines(name === 'SluiceError' ? message : `${name}: ${message}`, MAX_REASON_LENGTH),
  );
  return reason.replace(/[.:]$/, '');
}

/** Returns the message of a thrown value of any kind, as part of another message. Never throws. */
export function messageOf(cause: unknown): string {
  return describedBy(cause, (_name, message) => shownLines(message, MAX_REASON_LENGTH));
}

/** Longer than any single message of Sluice. */
const MAX_REASON_LENGTH = 1000;

function describedBy(cause: unknown, describe: (name: string, message: string) => string): string {
  try {
    if (cause instanceof AggregateError && cause.message === '' && cause.errors.length > 0) {
      // Node makes one without a message when it can't connect to any of the addresses of a name.
      return describedBy(cause.errors[0], describe);
    }
    if (cause instanceof Error) {
      // `name` and `message` may be of any type: any code can assign them.
      const { name, message }: { readonly name: unknown; readonly message: unknown } = cause;
      return describe(String(name), String(message));
    }
  } catch {
    // A getter or a Proxy threw: fall back to the inspected value.
  }
  return shown(cause);
}

/** Like `instanceof`, but returns false instead of throwing for a Proxy that can't be inspected. */
export function isInstance<T>(value: unknown, Class: abstract new (...args: never) => T): value is T {
  try {
    return value instanceof Class;
  } catch {
    return false;
  }
}
