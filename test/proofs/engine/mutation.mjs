/**
 * A text that replaces another one in a source, on purpose. The path is from the root of the repository.
 *
 * @typedef {{ readonly in: string, readonly replace: string, readonly by: string }} Mutation
 */

/** Breaks the source that a mutation names. @param {string} text @param {string} path @param {Mutation} mutation */
export function withMutation(text, path, mutation) {
  if (mutation.in !== path) return text;
  const parts = text.split(mutation.replace);
  if (parts.length !== 2) throw new Error(`${path} has the text of a mutant ${parts.length - 1} times instead of once`);
  return parts.join(mutation.by);
}
