import { parseDocument, type Document } from 'yaml';
import { messageOf } from '@sluice/core/kit';
import { ScenarioError, Value } from './value.ts';

/** The largest scenario in characters, so that parsing it never takes long. */
const MAX_LENGTH = 262_144;

/** Parses YAML or JSON and returns its root. Throws a {@link ScenarioError} for a text that can't be read. */
export function parsed(text: string): Value {
  if (text.length > MAX_LENGTH) throw new ScenarioError(0, `A scenario has at most ${MAX_LENGTH} characters.`);
  const document = documentOf(text);
  const [error] = document.errors;
  if (error !== undefined) throw new ScenarioError(error.pos[0], messageOf(error).replace(/\.?$/, '.'));
  return new Value(document, document.contents, '', 0);
}

function documentOf(text: string): Document.Parsed {
  try {
    return parseDocument(text, { prettyErrors: false });
  } catch (error) {
    // Values that are nested some thousand levels deep overflow the stack of the parser.
    throw new ScenarioError(0, `The text can't be read: ${messageOf(error)}.`);
  }
}

/** Returns `line:column` of an offset, both counted from 1. */
export function positionIn(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length}:${before.at(-1)!.length + 1}`;
}
