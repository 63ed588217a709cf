import { LIMIT_NAME_PATTERN } from '@sluice/core/kit';

/** The most characters of a name, of the 64 that a limit can have: `Limit_` and a number may be added. */
const MAX_NAME_LENGTH = 54;

/** Makes a name of a limit of a name of the file. One that is too long ends with a whole word. */
export function nameOf(given: string): string {
  const plain = plainName(given);
  // The character after the last one shows whether a word ends there.
  const beginning = plain.slice(0, MAX_NAME_LENGTH + 1).replace(/[_.-]+[^_.-]*$/, '');
  return validName(plain.length <= MAX_NAME_LENGTH ? plain : beginning.slice(0, MAX_NAME_LENGTH));
}

/** Makes a name of a path. Of one that is too long only the end is left, by which neighbours differ. */
export function nameOfPath(path: string): string {
  const plain = plainName(path);
  const end = plain.slice(-MAX_NAME_LENGTH - 1).replace(/^[^_.-]*[_.-]+/, '');
  return validName(plain.length <= MAX_NAME_LENGTH ? plain : end.slice(-MAX_NAME_LENGTH));
}

function plainName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]+/g, '_');
}

function validName(name: string): string {
  return LIMIT_NAME_PATTERN.test(name) ? name : `Limit_${name}`;
}

/** Names that differ by more than case. */
export class Names {
  /** In lower case. */
  readonly #taken = new Set<string>();

  /** Returns a name, with a number if it is taken. */
  free(base: string): string {
    let name = base;
    for (let i = 2; this.#taken.has(name.toLowerCase()); i++) name = `${base}-${i}`;
    this.#taken.add(name.toLowerCase());
    return name;
  }
}
