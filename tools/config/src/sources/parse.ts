import { messageOf } from '@sluice/core/kit';
import { dataNode, type Node } from '../nodes/node.ts';
import { BEGINNING, positionAt } from '../nodes/position.ts';
import type { Problems } from '../nodes/problems.ts';
import { checkUtf8 } from '../text/utf8.ts';
import { readYaml } from '../text/yaml-text.ts';
import type { Content } from './source.ts';

/** The maximum size of a text that is not JSON: the YAML library reads about 2 MB in a second. */
const MAX_YAML_BYTES = 262_144;
/** The maximum size of JSON, which is parsed at once, in a few dozen milliseconds. */
const MAX_JSON_BYTES = 2_097_152;

/**
 * Parses the content of a source. Yields when the event loop may run, and returns the root; `undefined`, with a problem, if
 * the content can't be read, and without one if it is empty.
 */
export function* rootOf(content: Content, problems: Problems): Generator<void, Node | undefined> {
  if ('value' in content) return dataNode(content.value);
  if ('rejected' in content) {
    problems.addUnreadable('', content.rejected);
    return undefined;
  }
  const text = decodeUtf8(content.bytes, problems);
  if (text === undefined) return undefined;
  return content.bytes.length > MAX_YAML_BYTES
    ? largeJson(text, content.bytes.length, problems)
    : yield* readYaml(text, problems);
}

/** Parses a large text, which must be JSON. Of two fields with one name in an object, the last one applies. */
function largeJson(text: string, size: number, problems: Problems): Node | undefined {
  const remedy = 'Put the ids into a file with one id a line, for example ids: ids.txt.';
  if (size > MAX_JSON_BYTES) {
    const message = `The text must be at most ${MAX_JSON_BYTES} bytes, but has ${size}. ${remedy}`;
    problems.addUnreadable(BEGINNING, message);
    return undefined;
  }
  try {
    return dataNode(JSON.parse(text));
  } catch (error) {
    const [, offset = '0'] = /position (\d+)/.exec(messageOf(error)) ?? [];
    const before = text.slice(0, Number(offset)).split('\n');
    const message = `A text of more than ${MAX_YAML_BYTES} bytes must be JSON, and this is not: ${messageOf(error)}. ${remedy}`;
    problems.addUnreadable(positionAt(before.length, before.at(-1)!.length + 1), message);
    return undefined;
  }
}

/**
 * Decodes UTF-8 and removes a byte order mark. Returns `undefined`, with a problem, if the bytes are not valid UTF-8.
 */
function decodeUtf8(bytes: Uint8Array, problems: Problems): string | undefined {
  return checkUtf8(bytes, problems) ? new TextDecoder().decode(bytes) : undefined;
}
