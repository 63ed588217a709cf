import { SluiceError } from '@sluice/core';
import { shownText } from '@sluice/core/limits';
import { byPlace, MOST_FINDINGS, type Finding, type Findings } from '../findings.ts';
import { lineAndColumn, shownPlace } from '../place.ts';

/** Something that is wrong in a file, or in data. */
export interface Problem {
  /** The file as its path was given; `defaults` or `overrides` for what a function gave. */
  readonly file: string;
  /** Where in a text, counted from 1; columns are UTF-16 code units. */
  readonly line?: number;
  readonly column?: number;
  /** Where in data: `[3].NewOrders.ids[7]`. */
  readonly path?: string;
  /** The limit that it is about. */
  readonly limit?: string;
  /** What must be, what was, and what to do. */
  readonly message: string;
  /** All of it on one line, as compilers write it: `limits.yaml:3:10: …`. */
  readonly text: string;
}

/** Longer than any problem is, whatever names, values and errors of others it shows. */
const MAX_LENGTH = 4000;
/** How many problems an error shows. */
const SHOWN = 50;

/** The problems of one file in the order of its lines; those of data in the order in which they were found. */
export function problemsOf(file: string, { list }: Findings): readonly Problem[] {
  return list.toSorted(byPlace).map((finding) => problemOf(file, finding));
}

/** All problems as the error of a set of limits that was not taken. */
export function problemsError(problems: readonly Problem[], count: number): SluiceError {
  const lines = problems.slice(0, SHOWN).map(({ text }) => text);
  if (count > lines.length) lines.push(`… and ${count - lines.length} more.`);
  const number = count === 1 ? 'is 1 problem' : `are ${count >= MOST_FINDINGS ? 'at least ' : ''}${count} problems`;
  return new SluiceError('ERR_LIMIT_FILES', `There ${number} with the limits:\n${lines.join('\n')}`);
}

function problemOf(file: string, { at, message: text, limit }: Finding): Problem {
  const [where, message] = [shownPlace(at), shownText(text, MAX_LENGTH)];
  return {
    file,
    ...(typeof at === 'number' ? lineAndColumn(at) : where !== '' && { path: at }),
    ...(limit !== undefined && { limit }),
    message,
    text: `${shownText(file, 400)}:${where === '' ? '' : `${where}:`} ${message}`,
  };
}
