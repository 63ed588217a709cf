import { wrongFile, type Mapping } from '../nodes/node.ts';
import { BEGINNING } from '../nodes/position.ts';
import type { Problems } from '../nodes/problems.ts';
import { rootOf } from './parse.ts';
import type { Content } from './source.ts';

/** How a kind of file is called in messages. */
export interface TreeNames {
  /** `The tables file`. */
  readonly file: string;
  /** What its root must be: `a mapping of tables`. */
  readonly demand: string;
  readonly remedy: string;
}

/**
 * Parses the content of a source whose root must be a mapping, at once. Returns `undefined`, with a problem, if it
 * can't be read.
 */
export function treeOf(content: Content, { file, demand, remedy }: TreeNames, problems: Problems): Mapping | undefined {
  const reading = rootOf(content, problems);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  const root = step.value;
  if (root?.kind === 'mapping') return root;
  if (problems.unreadable) return undefined;
  const isEmpty = root === undefined || (root.kind === 'scalar' && root.value === null);
  const message = isEmpty ? `${file} is empty. ${remedy}` : wrongFile(file, demand, root, remedy);
  problems.addUnreadable(root?.at ?? BEGINNING, message);
  return undefined;
}
