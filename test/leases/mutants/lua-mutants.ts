/** A script with one change. */
export interface Mutant {
  /** The number of the changed line, from 1. */
  readonly line: number;
  readonly change: 'left out' | 'always' | 'never';
  /** The line before the change. */
  readonly text: string;
  readonly source: string;
}

/** Lines that only begin or end a block can't be left out: the rest would be another program, or none. */
const STRUCTURE = /^(end|else|for .* do|do)$/;
const CONDITION = /^(if|elseif|while) (.*) (then|do)$/;

/** Leaves out each line that is a statement, and replaces each condition by `true` and by `false`. */
export function mutantsOf(source: string): readonly Mutant[] {
  const lines = source.split('\n');
  return lines.flatMap((whole, i) => {
    const text = whole.trim().replace(/ -- .*/, '');
    if (text === '' || text.startsWith('--') || STRUCTURE.test(text)) return [];
    const replaced = (change: Mutant['change'], by: string): Mutant => {
      return { line: i + 1, change, text, source: lines.with(i, by).join('\n') };
    };
    const [, keyword, , end] = CONDITION.exec(text) ?? [];
    if (keyword === undefined) return [replaced('left out', '')];
    const never = replaced('never', `${keyword} false ${end}`);
    // A loop that never ends is no mutant that a check could tell.
    return keyword === 'while' ? [never] : [replaced('always', `${keyword} true ${end}`), never];
  });
}
