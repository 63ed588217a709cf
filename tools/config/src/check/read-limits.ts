// The room check: what limits and overrides contain together, and the text of problems.
import { IdsFiles } from '../sources/ids-files.ts';
import { CHANGING, contentsOf, READINGS, signaturesOf, type ReadBounds } from '../sources/source.ts';
import type { Formats } from './formats.ts';
import { LimitsReading, type LimitsRead, type LimitsSources } from './limits-reading.ts';

/** The sources of a reading and their bounds. */
export interface ReadOptions extends LimitsSources, ReadBounds {
  /** Called with the files of ids that the overrides name, also with those that can't be read, and their signatures. */
  readonly onNamed?: ((signatures: ReadonlyMap<string, string>) => void) | undefined;
}

/**
 * Reads and validates both sources and the files of ids, in slices of a few milliseconds. If one of the files changes
 * meanwhile, all are read again.
 */
export async function readLimits(options: ReadOptions, formats: Formats): Promise<LimitsRead> {
  const { defaults, overrides, maxBytes, onNamed } = options;
  const sources = overrides === undefined ? [defaults] : [defaults, overrides];
  const paths = sources.map(({ from }) => from).filter((from) => typeof from === 'string');
  // oxlint-disable no-await-in-loop -- one reading after the other
  for (let reading = 1; ; reading++) {
    const idsFiles = new IdsFiles(overrides, maxBytes);
    const before = await signaturesOf(paths);
    const contents = await contentsOf(sources, options);
    const read = await new LimitsReading(options, formats, idsFiles).of(contents);
    onNamed?.(idsFiles.signatures);
    // Without files of ids, the contents are those of one moment.
    if (idsFiles.signatures.size === 0) return read;
    if (!(await idsFiles.haveChanged()) && (await signaturesOf(paths)) === before) return read;
    if (reading === READINGS) {
      return new LimitsReading(options, formats, idsFiles).of([contents[0]!, { rejected: CHANGING }]);
    }
  }
  // oxlint-enable no-await-in-loop
}
