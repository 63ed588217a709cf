import { SluiceError } from '@sluice/core';
import { shownText } from '@sluice/core/kit';
import { byPosition, MAX_PROBLEMS, type FoundProblem, type Problems } from '../nodes/problems.ts';
import { lineAndColumn, shownPosition } from '../nodes/position.ts';

/** A mistake in a file or in the data of a function. */
export interface Problem {
  /** The path of the file as it was given; of a function its name, or else `defaults` or `overrides`. */
  readonly file: string;
  /** The line in the text, counted from 1. Left out for data, and if the source could not be read at all. */
  readonly line?: number;
  /** The column in the line, counted from 1 in UTF-16 code units. Given whenever `line` is. */
  readonly column?: number;
  /** The path of the value in parsed data, such as `[3].NewOrders.ids[7]`. */
  readonly path?: string;
  /** The name of the limit that has the problem, if it is known. */
  readonly limit?: string;
  /** The demand, the value found and the remedy. */
  readonly message: string;
  /** File, position and message in the style of compilers: `limits.yaml:3:10: …`. */
  readonly text: string;
}

/** The maximum length of a message, because names, values and errors of other libraries may be long. */
const MAX_LENGTH = 4000;
/** How many problems the message of an error lists. */
const SHOWN = 50;

/** Returns the problems of one source: those of a text by line, those of data in the order in which they were found. */
export function problemsOf(file: string, { list }: Problems): readonly Problem[] {
  return list.toSorted(byPosition).map((problem) => problemOf(file, problem));
}

/** Creates the error for rejected sources. `count` includes problems that are not listed; `of` is what the sources contain. */
export function problemsError(problems: readonly Problem[], count: number, of = 'limits'): SluiceError {
  const lines = problems.slice(0, SHOWN).map(({ text }) => text);
  if (count > lines.length) lines.push(`… and ${count - lines.length} more.`);
  const number = count === 1 ? 'is 1 problem' : `are ${count >= MAX_PROBLEMS ? 'at least ' : ''}${count} problems`;
  return new SluiceError('ERR_LIMIT_FILES', `There ${number} with the ${of}:\n${lines.join('\n')}`);
}

function problemOf(file: string, { at, message: text, limit }: FoundProblem): Problem {
  const [where, message] = [shownPosition(at), shownText(text, MAX_LENGTH)];
  return {
    file,
    ...(typeof at === 'number' ? lineAndColumn(at) : where !== '' && { path: at }),
    ...(limit !== undefined && { limit }),
    message,
    text: `${shownText(file, 400)}:${where === '' ? '' : `${where}:`} ${message}`,
  };
}
