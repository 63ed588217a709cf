import { readBytes, signatureOf, type FileContent } from './file.ts';
import { readFunction, type Content, type ReadBounds, type Source } from './source.ts';

/** How many times files are read that change during the reading. */
const READINGS = 5;

/**
 * Reads the sources. The contents of the files are those of one moment: if a file changes during the reading, all files
 * are read again, so that new defaults are never combined with old overrides.
 */
export async function contentsOf(sources: readonly Source[], bounds: ReadBounds): Promise<readonly Content[]> {
  const asked = sources.map(({ from }) => (typeof from === 'string' ? undefined : readFunction(from, bounds)));
  // Functions may be slow, so the files are read together after them.
  const given = await Promise.all(asked);
  const paths = sources.map(({ from }) => from).filter((from) => typeof from === 'string');
  const files = await readTogether(paths, bounds);
  return given.map((content) => content ?? files.shift()!);
}

async function readTogether(paths: readonly string[], { maxBytes }: ReadBounds): Promise<Content[]> {
  for (let reading = 1; ; reading++) {
    const files = await Promise.all(paths.map((path) => readBytes(path, maxBytes)));
    const now = await Promise.all(paths.map(signatureOf));
    const isChanged = ({ signature }: FileContent, i: number): boolean => signature !== now[i];
    if (!files.some(isChanged)) return files.map(({ content }) => content);
    if (reading === READINGS) {
      return files.map((file, i) => (isChanged(file, i) ? { rejected: CHANGING } : file.content));
    }
  }
}

const CHANGING = `The file changed while it was read, ${READINGS} times in a row. Reload when it is no longer being written.`;
