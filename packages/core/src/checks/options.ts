import { complaint, reasonOf, shown, shownName, SluiceError } from './errors.ts';

/** Names that other libraries give to something we have, and what to write here instead. */
export type Hints = Readonly<Record<string, string>>;

/**
 * Refuses options that are not an object or have unknown names, so that a typo never means "default". All unknown names
 * are in one error. Refuses options that can't be read as well, so that no getter throws later, without a name.
 *
 * @param where - How the message calls the object: `createLimiter`, `limits.Orders`.
 * @param example - What to write where there is no object: `rateLimit({ count: 100, period: '1m' })`.
 */
export function checkOptions(
  where: string,
  options: unknown,
  known: readonly string[],
  hints: Hints = {},
  example?: string,
): void {
  // Made only for an error, because some options are checked at each call.
  const remedy = (): string => (example === undefined ? optionList(known) : `For example ${example}.`);
  if (!isPlainObject(options))
    throw complaint('ERR_OPTION', { option: where, demand: 'an object', value: options, remedy: remedy() });
  const unknown = unknownNames(where, options, known);
  if (unknown.length === 0) return;
  // Something else than options was passed, e.g. a request by a framework to which rateLimit itself was given.
  if (!isTable(options))
    throw complaint('ERR_OPTION', { option: where, demand: 'an object of options', value: options, remedy: remedy() });
  const first = unknown.slice(0, MAX_SHOWN).map((name) => {
    const hint = Object.hasOwn(hints, name) ? ` ${hints[name]}` : guess(name, known);
    const value = SECRET.test(name) ? '' : ` (its value was ${shown(options[name])})`;
    return `no option \`${shownName(name)}\`${value}.${hint}`;
  });
  if (unknown.length > MAX_SHOWN) first.push(`${unknown.length - MAX_SHOWN} more unknown options.`);
  const isStrange = !known.some((name) => name in options) && !unknown.some((name) => Object.hasOwn(hints, name));
  // Names that are far from all options show that somebody has not seen what they look like together.
  const shape = isStrange && example !== undefined ? ` For example ${example}.` : '';
  throw new SluiceError('ERR_UNKNOWN_OPTION', `has ${first.join(' It has ')}${shape} ${optionList(known)}`, {
    path: where,
  });
}

/** The longest list of options that a message shows: more names hide what it says before them. */
const MAX_OPTIONS = 12;

function optionList(known: readonly string[]): string {
  if (known.length <= MAX_OPTIONS) return `Options: ${known.join(', ')}.`;
  return `All ${known.length} options are in docs/limits/options.md.`;
}

/** The unknown names. Every option is read once: a getter, or a Proxy, may throw. */
function unknownNames(where: string, options: Record<string, unknown>, known: readonly string[]): readonly string[] {
  return read(where, (at) => {
    const unknown = Object.keys(options).filter((name) => !known.includes(name));
    for (const name of [...known, ...unknown]) void options[(at.name = name)];
    return unknown;
  });
}

/**
 * Gives the entries of an object.
 *
 * @param where - How the message calls the object: `limits`.
 * @throws {SluiceError} `ERR_OPTION` for an entry that can't be read.
 */
export function entriesOf<T>(where: string, object: Readonly<Record<string, T>>): [name: string, value: T][] {
  return read(where, (at) => Object.keys(object).map((name) => [name, object[(at.name = name)]!]));
}

/** @param get - Reads properties, and notes the name of each before reading it. */
function read<T>(where: string, get: (at: { name?: string }) => T): T {
  const at: { name?: string } = {};
  try {
    return get(at);
  } catch (cause) {
    const path = at.name === undefined ? where : `${where}.${at.name}`;
    const message = `can't be read: reading it threw "${reasonOf(cause)}". Write its value, or a getter that does not throw.`;
    throw new SluiceError('ERR_OPTION', message, { cause, path });
  }
}

/** Options with values that have no place in a log. */
const SECRET = /passw|secret|credential/i;

/** How many unknown options an error shows. */
const MAX_SHOWN = 10;

/** Whether a value is an object of options: not an array, a function or null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether a value is an object literal, or like one: its own properties are all that it has. A Map, or an instance of any
 * other class, is not: what it contains would be ignored.
 */
export function isTable(value: unknown): value is Record<string, unknown> {
  if (!isPlainObject(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** What a whole number must be. */
export interface WholeNumberDemand {
  readonly min: number;
  readonly max: number;
  /** What to do, where the value itself does not show what was meant. */
  readonly remedy?: string;
}

/** Gives a whole number within a range, or throws `ERR_OPTION`. */
export function wholeNumber(option: string, value: unknown, { min, max, remedy }: WholeNumberDemand): number {
  const isRight = (number: number): boolean => Number.isInteger(number) && number >= min && number <= max;
  if (typeof value === 'number' && isRight(value)) return value;
  const meant = meantNumber(option, value);
  const example = `For example ${leafOf(option)}: ${Math.min(max, Math.max(min, 50))}.`;
  throw complaint('ERR_OPTION', {
    option,
    demand: `a whole number from ${min} to ${max}`,
    value,
    remedy:
      meant !== undefined && isRight(meant) ? `Write ${leafOf(option)}: ${meant}.` : remedyOf(value, remedy ?? example),
  });
}

/**
 * The number that a value of another type was meant to be: `'100'`, `'1_000'`, `100n`, and `'50ms'` for an option in
 * milliseconds.
 */
function meantNumber(option: string, value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string') return undefined;
  // As code writes it, and as YAML did before 1.2.
  if (/^\d{1,3}(?:_\d{3}){1,4}$/.test(value)) return Number(value.replaceAll('_', ''));
  // Trimmed first: a pattern with several optional spaces needs quadratic time for a long run of them.
  const [, digits, unit] = /^(\d{1,16})\s?(ms|s)?$/.exec(value.trim()) ?? [];
  if (digits === undefined) return undefined;
  if (unit === undefined) return Number(digits);
  return option.endsWith('Ms') ? Number(digits) * (unit === 's' ? 1000 : 1) : undefined;
}

function remedyOf(value: unknown, remedy: string): string {
  if (!Number.isNaN(value)) return remedy;
  return `NaN comes from a calculation or a Number() of text, often of an environment variable that is not set. ${remedy}`;
}

/** The last name of an option's path, as it is written before a colon: `count` of `limits.Orders.count`. */
export function leafOf(option: string): string {
  return /\w+$/.exec(option)?.[0] ?? option;
}

/** Gives one of a few words, or throws `ERR_OPTION`. */
export function oneOf<const T extends string>(option: string, value: unknown, words: readonly T[], remedy?: string): T {
  if (words.includes(value as T)) return value as T;
  const demand = words.map((word) => `'${word}'`).join(' or ');
  const [close] = typeof value === 'string' ? closest(value, words) : [];
  const example = `${close === undefined ? 'For example' : 'Write'} ${leafOf(option)}: '${close ?? words[0]!}'.`;
  throw complaint('ERR_OPTION', { option, demand, value, remedy: remedy ?? example });
}

/** Refuses what is no function; leaves out what is left out. */
export function checkFunction(option: string, value: unknown, remedy: string): void {
  if (value === undefined || typeof value === 'function') return;
  throw complaint('ERR_OPTION', { option, demand: 'a function', value, remedy });
}

/** Refuses what is not a boolean; leaves out what is left out. */
export function checkBoolean(option: string, value: unknown): void {
  if (value === undefined || typeof value === 'boolean') return;
  const remedy = `Write ${leafOf(option)}: ${value === 'false' || value === 0 || value === null ? 'false' : 'true'}, or leave it out.`;
  throw complaint('ERR_OPTION', { option, demand: 'true or false', value, remedy });
}

/** The question whether a known name was meant, after a space; nothing when none is close. */
export function guess(name: string, known: readonly string[]): string {
  const matches = closest(name, known).map((match) => `\`${match}\``);
  const last = matches.pop();
  if (last === undefined) return '';
  return ` Did you mean ${matches.length === 0 ? last : `${matches.join(', ')} or ${last}`}?`;
}

/** How many names an error suggests for an unknown one. */
const MAX_GUESSES = 3;

/** The names that may have been meant, the closest first. */
function closest(name: string, known: readonly string[]): readonly string[] {
  // What is shorter is close to everything.
  if (name.length < 3) return [];
  const typo = name.toLowerCase();
  const [mistyped, shortened] = [isMistyped, isShortened].map((isMeant) =>
    known.filter((candidate) => isMeant(typo, candidate.toLowerCase())),
  );
  return [...new Set([...mistyped!, ...shortened!])].slice(0, MAX_GUESSES);
}

/** The same letters in another order, or one letter too many, too few or wrong. */
function isMistyped(typo: string, name: string): boolean {
  return sharesAllLetters(typo, name) || isOneLetterAway(typo, name);
}

/** A beginning of a name, or a longer form of it. What is much longer is close to nothing. */
function isShortened(typo: string, name: string): boolean {
  return name.startsWith(typo) || (typo.startsWith(name) && typo.length <= 2 * name.length);
}

function sharesAllLetters(a: string, b: string): boolean {
  // A name may have millions of letters.
  return a.length === b.length && [...a].toSorted().join('') === [...b].toSorted().join('');
}

function isOneLetterAway(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  return [restA, restA.slice(1)].some((rest) => rest === restB || rest === restB.slice(1));
}
