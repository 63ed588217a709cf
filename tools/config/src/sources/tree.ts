import { dataNode, wrongFile, type Mapping, type Node } from '../nodes/node.ts';
import { BEGINNING } from '../nodes/position.ts';
import type { Problems } from '../nodes/problems.ts';
import { rootOf } from '../shape/limits-shape.ts';
import { readYaml } from '../text/yaml-text.ts';
import { decodeUtf8 } from './parse.ts';
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
 * Parses the content of a source whose root must be a mapping, in this thread. Returns `undefined`, with a problem, if it
 * can't be read.
 */
export function treeOf(content: Content, { file, demand, remedy }: TreeNames, problems: Problems): Mapping | undefined {
  const root = rootOfContent(content, problems);
  if (root?.kind === 'mapping') return root;
  if (problems.unreadable) return undefined;
  const isEmpty = root === undefined || (root.kind === 'scalar' && root.value === null);
  const message = isEmpty ? `${file} is empty. ${remedy}` : wrongFile(file, demand, root, remedy);
  problems.addUnreadable(root?.at ?? BEGINNING, message);
  return undefined;
}

function rootOfContent(content: Content, problems: Problems): Node | undefined {
  if ('bytes' in content) return rootOfText(content.bytes, problems);
  if ('value' in content) return dataNode(content.value);
  problems.addUnreadable('', content.rejected);
  return undefined;
}

function rootOfText(bytes: Uint8Array, problems: Problems): Node | undefined {
  const text = decodeUtf8(bytes, problems);
  return text === undefined ? undefined : rootOf(readYaml(text, problems));
}
