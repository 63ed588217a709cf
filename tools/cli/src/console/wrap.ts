/** The narrowest text that is wrapped. */
const MIN_COLUMNS = 40;

/**
 * Divides text for people into lines of at most so many columns.
 *
 * @param indent - How many spaces the lines after the first begin with.
 */
export function wrapped(text: string, columns: number, indent = 0): readonly string[] {
  const width = Math.max(columns, MIN_COLUMNS);
  const lines: string[] = [];
  let line = '';
  // Spaces between words are kept, as in the columns of a list.
  for (const part of text.match(/\s*\S+/g) ?? []) {
    if (line !== '' && line.length + part.length > width) {
      lines.push(line);
      line = ' '.repeat(indent) + part.trimStart();
    } else line += part;
  }
  return [...lines, line];
}
