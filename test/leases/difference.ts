import { isDeepStrictEqual } from 'node:util';

/** Returns how something differs from what was expected; undefined if it does not. */
export function differenceOf(what: string, said: unknown, expected: unknown): string | undefined {
  if (isDeepStrictEqual(said, expected)) return undefined;
  return `${what}: ${textOf(said)} instead of ${textOf(expected)}`;
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
}
