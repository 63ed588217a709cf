import {
  accountId,
  clientNetwork,
  compound,
  ipAddress,
  ipv6RangeCIDR,
  keyFrom,
  type IdFormat,
  type Key,
} from '@sluice/core';
import { listed, messageOf, shownName } from '@sluice/core/limits';
import type { Findings } from '../findings.ts';
import { BEGINNING } from '../place.ts';
import type { LimitRow } from '../shape/limits-shape.ts';

/** Knows the id format of each limit, and what a limit must say of it. */
export interface Formats {
  /** Notes what is wrong with a limit's format. */
  check(row: LimitRow, findings: Findings): void;
  /** Notes what is missing when all limits are known. */
  finish(names: ReadonlySet<string>, findings: Findings): void;
  /** The format of a limit's ids, or why there is none. */
  of(limit: string): IdFormat | string;
}

/** Formats by the keys that code gives. */
export class KeyFormats implements Formats {
  readonly #keys: ReadonlyMap<string, Key<never>>;

  constructor(keys: ReadonlyMap<string, Key<never>>) {
    this.#keys = keys;
  }

  check({ name, at, idFormat }: LimitRow, findings: Findings): void {
    const key = this.#keys.get(name);
    if (key === undefined) {
      const remedy = `Add one, for example keys: { ${name}: ipAddress() }, or remove the limit from the file.`;
      return findings.add(at, `The limit \`${name}\` has no key in code. ${remedy}`, name);
    }
    const inCode = key.format.name;
    if (idFormat === undefined || withoutAlias(idFormat.name) === inCode) return;
    const message = `\`${name}.idFormat\` must be ${shownName(inCode)}, the format of its key in code, but was '${shownName(idFormat.name)}'.`;
    findings.add(idFormat.at, `${message} Change one of the two.`, name);
  }

  finish(names: ReadonlySet<string>, findings: Findings): void {
    for (const name of this.#keys.keys()) {
      if (names.has(name)) continue;
      const remedy = `Add the limit to the file, or remove \`keys.${shownName(name)}\`. Limits: ${listed(names)}.`;
      findings.add(
        BEGINNING,
        `The limit \`${shownName(name)}\` has a key in code, but is not in the file. ${remedy}`,
        name,
      );
    }
  }

  of(limit: string): IdFormat | string {
    // A limit without a key was said already.
    return this.#keys.get(limit)?.format ?? '';
  }
}

/** More parts than any format has. */
const MAX_PARTS = 8;

/** Formats by the names that the file gives. */
export class NamedFormats implements Formats {
  readonly #known: ReadonlyMap<string, IdFormat>;
  readonly #limits = new Map<string, IdFormat | string>();

  constructor(formats: readonly IdFormat[]) {
    const known = [accountId(), clientNetwork(), ipAddress(), ipv6RangeCIDR()].map(({ format }) => format);
    this.#known = new Map([...known, ...formats].map((format) => [format.name, format]));
  }

  check({ name, idFormat }: LimitRow, findings: Findings): void {
    if (idFormat === undefined) {
      const remedy = `For example idFormat: accountId.`;
      this.#limits.set(name, `\`${name}\` needs an idFormat, by which its ids are checked without code. ${remedy}`);
      return;
    }
    const format = this.#attempted(withoutAlias(idFormat.name));
    this.#limits.set(name, typeof format === 'string' ? '' : format);
    if (typeof format !== 'string') return;
    const demand = `\`${name}.idFormat\` must be a known id format, but was '${shownName(idFormat.name)}'.`;
    findings.add(idFormat.at, `${demand} ${format}`, name);
  }

  finish(): void {}

  of(limit: string): IdFormat | string {
    return this.#limits.get(limit) ?? '';
  }

  /** A format by its name, or why there is none. */
  #attempted(name: string): IdFormat | string {
    const remedy = `Formats: ${listed(this.#known.keys())}. For others, use the option \`formats\`.`;
    try {
      return this.#named(name) ?? remedy;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** A format by its name, put together of several where the name is: `accountId:domain`, `accountId|clientNetwork`. */
  #named(name: string): IdFormat | undefined {
    return this.#known.get(name) ?? this.#joined(name, '|') ?? this.#joined(name, ':');
  }

  #joined(name: string, separator: '|' | ':'): IdFormat | undefined {
    const parts = name.split(separator);
    if (parts.length === 1 || parts.length > MAX_PARTS) return undefined;
    const formats = parts.map((part) => this.#named(part));
    // They are never asked for an id: any function does.
    const keys = formats.filter((format) => format !== undefined).map((format) => keyFrom(format, String));
    if (keys.length < formats.length) return undefined;
    return separator === ':' ? compound(...keys).format : keys.reduce((key, fallback) => key.or(fallback)).format;
  }
}

/** `regId`, as Boulder calls it, is accountId. */
function withoutAlias(name: string): string {
  return name.replace(/(?<![^:|])regId(?![^:|])/g, 'accountId');
}
