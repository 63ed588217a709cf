/** A member of a list: a string, and its parameters (RFC 9651 section 3.1). */
export interface Member {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Reads the members of a list that are strings, such as `"burst";r=5;t=3`. Others are left out. In one pass, since a
 * provider may send anything.
 */
export function membersIn(list: string): readonly Member[] {
  const members: Member[] = [];
  for (const parts of partsOf(list)) {
    const name = stringIn(parts[0]!);
    if (name === undefined) continue;
    const parameters = new Map<string, string>();
    for (let i = 1; i < parts.length; i++) {
      const part = parts[i]!;
      const equals = part.indexOf('=');
      if (equals > 0) parameters.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
    }
    members.push({ name, parameters });
  }
  return members;
}

/** Splits a list at its commas, and each member at its semicolons, but not within strings. */
function partsOf(list: string): readonly (readonly string[])[] {
  const members: string[][] = [[]];
  let start = 0;
  let isQuoted = false;
  const close = (end: number): void => void members.at(-1)!.push(list.slice(start, end).trim());
  for (let i = 0; i < list.length; i++) {
    const character = list[i];
    if (isQuoted && character === '\\') i++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === ';' || character === ',')) {
      close(i);
      start = i + 1;
      if (character === ',') members.push([]);
    }
  }
  close(list.length);
  return members;
}

function stringIn(text: string): string | undefined {
  const isString = text.length >= 2 && text.startsWith('"') && text.endsWith('"');
  return isString ? text.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : undefined;
}

/** Returns the text of a parameter without quotes. */
export function unquoted(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (stringIn(text) ?? text);
}
