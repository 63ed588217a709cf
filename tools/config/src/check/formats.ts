import {
  accountId,
  clientNetwork,
  compound,
  everyone,
  ipAddress,
  ipv6RangeCIDR,
  by,
  type IdFormat,
  type Key,
} from '@sluice/core';
import { LOAD_KEY } from '@sluice/core/kinds';
import { listed, messageOf, shownName } from '@sluice/core/kit';
import type { Problems } from '../nodes/problems.ts';
import { BEGINNING } from '../nodes/position.ts';
import type { LimitRow } from '../shape/limits-shape.ts';

/** Finds the id format of each limit, and validates the `idFormat` fields of a file. */
export interface Formats {
  /** Validates the id format of one limit of the file, and adds a problem if it is wrong. */
  check(row: LimitRow, problems: Problems): void;
  /** Called after the last limit of the file. Adds a problem for each limit that is missing. */
  finish(names: ReadonlySet<string>, problems: Problems): void;
  /** Returns the id format of a limit, or a message why it is missing; `''` if a problem already explains that. */
  of(limit: string): IdFormat | string;
}

/** Id formats of the keys in code. */
export class KeyFormats implements Formats {
  readonly #keys: ReadonlyMap<string, Key<never>>;
  /** The load limits without a key in code. */
  readonly #keyless = new Set<string>();

  constructor(keys: ReadonlyMap<string, Key<never>>) {
    this.#keys = keys;
  }

  check({ name, at, idFormat, isLoad }: LimitRow, problems: Problems): void {
    if (isLoad && !this.#keys.has(name)) this.#keyless.add(name);
    const key = this.#keyOf(name);
    if (key === undefined) {
      const remedy = `Add one, for example keys: { ${name}: ipAddress() }, or remove the limit from the file.`;
      return problems.add(at, `The limit \`${name}\` has no key in code. ${remedy}`, name);
    }
    const inCode = key.format.name;
    if (idFormat === undefined || withoutAlias(idFormat.name) === inCode) return;
    const [whose, remedy] = this.#keyless.has(name)
      ? ['of a load limit without a key in code', 'Change it, or give the limit a key.']
      : ['of its key in code', 'Change one of the two.'];
    const message = `\`${name}.idFormat\` must be ${shownName(inCode)}, the format ${whose}, but was '${shownName(idFormat.name)}'.`;
    problems.add(idFormat.at, `${message} ${remedy}`, name);
  }

  finish(names: ReadonlySet<string>, problems: Problems): void {
    for (const name of this.#keys.keys()) {
      if (names.has(name)) continue;
      const remedy = `Add the limit to the file, or remove \`keys.${shownName(name)}\`. Limits: ${listed(names)}.`;
      problems.add(
        BEGINNING,
        `The limit \`${shownName(name)}\` has a key in code, but is not in the file. ${remedy}`,
        name,
      );
    }
  }

  of(limit: string): IdFormat | string {
    // The message is empty, because `check` has already reported a limit without a key.
    return this.#keyOf(limit)?.format ?? '';
  }

  #keyOf(limit: string): Key<never> | undefined {
    return this.#keyless.has(limit) ? LOAD_KEY : this.#keys.get(limit);
  }
}

/** The maximum number of parts of a compound format; real ones have two or three. */
const MAX_PARTS = 8;

/** Id formats that the file names. */
export class NamedFormats implements Formats {
  readonly #known: ReadonlyMap<string, IdFormat>;
  readonly #limits = new Map<string, IdFormat | string>();

  constructor(formats: readonly IdFormat[]) {
    const known = [accountId(), by(), clientNetwork(), ipAddress(), ipv6RangeCIDR(), everyone()].map(
      ({ format }) => format,
    );
    this.#known = new Map([...known, ...formats].map((format) => [format.name, format]));
  }

  check({ name, idFormat, isLoad }: LimitRow, problems: Problems): void {
    if (idFormat === undefined && isLoad) return void this.#limits.set(name, LOAD_KEY.format);
    if (idFormat === undefined) {
      const remedy = `For example idFormat: accountId.`;
      this.#limits.set(name, `\`${name}\` needs an idFormat, by which its ids are checked without code. ${remedy}`);
      return;
    }
    const format = this.#attempted(withoutAlias(idFormat.name));
    this.#limits.set(name, typeof format === 'string' ? '' : format);
    if (typeof format !== 'string') return;
    const demand = `\`${name}.idFormat\` must be a known id format, but was '${shownName(idFormat.name)}'.`;
    problems.add(idFormat.at, `${demand} ${format}`, name);
  }

  finish(): void {}

  of(limit: string): IdFormat | string {
    return this.#limits.get(limit) ?? '';
  }

  /** Returns the format with this name, or the remedy for a name that is not known. */
  #attempted(name: string): IdFormat | string {
    const remedy = `Formats: ${listed(this.#known.keys())}. For others, use the option \`formats\`.`;
    try {
      return this.#named(name) ?? remedy;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Returns the format with this name, which may be compound: `accountId:domain`, `accountId|clientNetwork`. */
  #named(name: string): IdFormat | undefined {
    return this.#known.get(name) ?? this.#joined(name, '|') ?? this.#joined(name, ':');
  }

  #joined(name: string, separator: '|' | ':'): IdFormat | undefined {
    const parts = name.split(separator);
    if (parts.length === 1 || parts.length > MAX_PARTS) return undefined;
    const formats = parts.map((part) => this.#named(part));
    // Only the formats of these keys are used. The function that would compute an id is never called.
    const keys = formats.filter((format) => format !== undefined).map((format) => by(String, { format }));
    if (keys.length < formats.length) return undefined;
    return separator === ':' ? compound(...keys).format : keys.reduce((key, fallback) => key.or(fallback)).format;
  }
}

/** Replaces `regId`, the name in Let's Encrypt's Boulder, by `accountId`. */
function withoutAlias(name: string): string {
  return name.replace(/(?<![^:|])regId(?![^:|])/g, 'accountId');
}
