import { readBytes, signatureOf, type FileContent } from './file.ts';
import { readFunction, type Content, type ReadBounds, type Source } from './source.ts';

/** How often files are read that change while they are read. */
const READINGS = 5;

/**
 * Reads sources. What files give stood in all of them at one moment: where one was written or replaced while another was
 * read, all are read again, so that no set is half of an old one.
 */
export async function contentsOf(sources: readonly Source[], bounds: ReadBounds): Promise<readonly Content[]> {
  const asked = sources.map(({ from }) => (typeof from === 'string' ? undefined : readFunction(from, bounds)));
  // Functions may take their time: files are read afterwards, together.
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
      return files.map((file, i) => (isChanged(file, i) ? { refused: CHANGING } : file.content));
    }
  }
}

const CHANGING = `The file changed while it was read, ${READINGS} times in a row. Reload when it is no longer being written.`;
