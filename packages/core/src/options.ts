import { complaint, shown, shownName, SluiceError } from './errors.ts';

/** Names that other libraries give to something we have, and what to write here instead. */
export type Hints = Readonly<Record<string, string>>;

/**
 * Refuses options that are no object or have unknown names, so that a typo never means "default".
 *
 * @param where - How the message calls the object: `createLimiter`, `limits.Orders`.
 */
export function checkOptions(where: string, options: unknown, known: readonly string[], hints: Hints = {}): void {
  if (!isPlainObject(options)) throw complaint('ERR_OPTION', { option: where, demand: 'an object', value: options });
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const hint = Object.hasOwn(hints, name) ? ` ${hints[name]}` : closest(name, known);
    throw new SluiceError(
      'ERR_UNKNOWN_OPTION',
      `\`${where}\` has no option \`${shownName(name)}\` (its value was ${shown(options[name])}).${hint} Options: ${known.join(', ')}.`,
    );
  }
}

/** Whether a value is an object that holds options: no array, no function, no null. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export interface WholeNumberDemand {
  readonly min: number;
  readonly max: number;
  readonly remedy?: string;
}

/** Gives a whole number within a range, or throws `ERR_OPTION`. */
export function wholeNumber(option: string, value: unknown, { min, max, remedy }: WholeNumberDemand): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  const demand = `a whole number from ${min} to ${max}`;
  throw complaint('ERR_OPTION', { option, demand, value, ...(remedy !== undefined && { remedy }) });
}

/** Gives one of a few words, or throws `ERR_OPTION`. */
export function oneOf<const T extends string>(option: string, value: unknown, words: readonly T[], remedy?: string): T {
  if (words.includes(value as T)) return value as T;
  const demand = words.map((word) => `'${word}'`).join(' or ');
  throw complaint('ERR_OPTION', { option, demand, value, ...(remedy !== undefined && { remedy }) });
}

/** Refuses what is no function; leaves out what is left out. */
export function checkFunction(option: string, value: unknown, remedy: string): void {
  if (value === undefined || typeof value === 'function') return;
  throw complaint('ERR_OPTION', { option, demand: 'a function', value, remedy });
}

/** Refuses what is no boolean; leaves out what is left out. */
export function checkBoolean(option: string, value: unknown): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw complaint('ERR_OPTION', { option, demand: 'true or false', value });
}

function closest(name: string, known: readonly string[]): string {
  const lower = name.toLowerCase();
  const match = known.find((candidate) => isMeant(lower, candidate.toLowerCase()));
  return match === undefined ? '' : ` Did you mean \`${match}\`?`;
}

/** A beginning or a longer form of it, the same letters in another order, or one letter too many, too few or wrong. */
function isMeant(typo: string, name: string): boolean {
  // What is shorter is close to everything, and what is much longer to nothing.
  if (typo.length < 3 || typo.length > 2 * name.length) return false;
  return name.startsWith(typo) || typo.startsWith(name) || sharesAllLetters(typo, name) || isOneLetterAway(typo, name);
}

function sharesAllLetters(a: string, b: string): boolean {
  return [...a].toSorted().join('') === [...b].toSorted().join('');
}

function isOneLetterAway(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  return [restA, restA.slice(1)].some((rest) => rest === restB || rest === restB.slice(1));
}
