import { LIMIT_NAME_PATTERN } from '@sluice/core/kit';
import type { EnvoyDescriptor, EnvoyFile, EnvoyLimit } from './envoy-file.ts';
import { importedNumbers, type ImportAs, type ImportedNumbers } from './limit-numbers.ts';

/** The files of `sluice serve`, as data. */
export interface Imported {
  readonly limits: Readonly<Record<string, ImportedNumbers>>;
  readonly tables: { readonly envoy: Readonly<Record<string, { readonly rules: readonly ImportedRule[] }>> };
  /** What is not the same as before, with the place. */
  readonly notes: readonly string[];
}

/** A rule of a table, as a file has it. */
interface ImportedRule {
  readonly descriptor: readonly (string | Readonly<Record<string, string>>)[];
  readonly limit?: string;
  readonly id?: 'descriptor' | 'rule' | readonly string[];
  readonly unlimited?: true;
  readonly blocked?: true;
  readonly replaces?: readonly string[];
  readonly shadow?: true;
}

/** Converts files of envoyproxy/ratelimit. */
export function converted(files: readonly EnvoyFile[], as: ImportAs): Imported {
  const conversion = new Conversion(as);
  const envoy = files.map((file) => [file.domain, { rules: conversion.rulesOf(file) }] as const);
  return { limits: conversion.limits, tables: { envoy: Object.fromEntries(envoy) }, notes: conversion.notes };
}

interface Path {
  readonly domain: string;
  readonly descriptors: readonly EnvoyDescriptor[];
}

class Conversion {
  readonly limits: Record<string, ImportedNumbers> = {};
  readonly notes: string[] = [];
  readonly #as: ImportAs;
  /** Names in lower case: they must differ by more than case. */
  readonly #taken = new Set<string>();

  constructor(as: ImportAs) {
    this.#as = as;
  }

  rulesOf({ domain, descriptors }: EnvoyFile): readonly ImportedRule[] {
    const named = new Map<string, string[]>();
    const waiting: { readonly rule: ImportedRule; readonly replaces: readonly string[]; readonly where: string }[] = [];
    for (const path of pathsOf({ domain, descriptors: [] }, descriptors)) {
      const last = path.descriptors.at(-1)!;
      const where = pathText(path);
      for (const name of last.dropped) this.notes.push(`${where}: ${droppedText(name)}`);
      if (last.shadow && last.limit === undefined) this.notes.push(`${where}: ${shadowText(last)}`);
      const rule = this.#ruleOf(path, last, where);
      if (rule === undefined) continue;
      if (rule.limit !== undefined && last.limit?.name !== undefined) {
        named.set(last.limit.name, [...(named.get(last.limit.name) ?? []), rule.limit]);
      }
      waiting.push({ rule, replaces: last.limit?.replaces ?? [], where });
    }
    return waiting.map(({ rule, replaces, where }) => {
      const limits = replaces.flatMap((name) => named.get(name) ?? this.#unknown(name, where));
      return limits.length === 0 ? rule : { ...rule, replaces: limits };
    });
  }

  #unknown(name: string, where: string): readonly string[] {
    this.notes.push(`${where}: it replaces ${name}, which no limit of the file is named`);
    return [];
  }

  /** A descriptor without a limit that has others below it needs no rule. Without any it lets its value pass. */
  #ruleOf(path: Path, last: EnvoyDescriptor, where: string): ImportedRule | undefined {
    const { limit } = last;
    if (limit === undefined && last.descriptors.length > 0) return undefined;
    const descriptor = path.descriptors.map(({ key, value }) => (value === undefined ? key : { [key]: value }));
    if (limit === undefined || limit.unlimited) return { descriptor, unlimited: true };
    const shadow = last.shadow ? ({ shadow: true } as const) : {};
    if (limit.requestsPerUnit === 0) return { descriptor, blocked: true, ...shadow };
    return { descriptor, limit: this.#defined(limit, where), id: idOf(path), ...shadow };
  }

  #defined({ unit, requestsPerUnit, name }: EnvoyLimit, where: string): string {
    const { numbers, note } = importedNumbers(requestsPerUnit, unit!, this.#as);
    if (note !== undefined) this.notes.push(`${where}: ${note}`);
    const chosen = this.#free(name === undefined ? nameOfPath(where) : nameOf(name));
    if (name !== undefined && nameOf(name) !== name) this.notes.push(`${where}: its name ${name} is ${chosen} now`);
    this.limits[chosen] = { ...numbers, idFormat: 'by' };
    return chosen;
  }

  #free(base: string): string {
    let name = base;
    for (let i = 2; this.#taken.has(name.toLowerCase()); i++) name = `${base}-${i}`;
    this.#taken.add(name.toLowerCase());
    return name;
  }
}

/** The most characters of a name, of the 64 that a limit can have: `Limit_` and a number may be added. */
const MAX_NAME_LENGTH = 54;

/** Makes a name of a limit of a name of the file. One that is too long ends with a whole word. */
function nameOf(given: string): string {
  const plain = plainName(given);
  // The character after the last one shows whether a word ends there.
  const beginning = plain.slice(0, MAX_NAME_LENGTH + 1).replace(/[_.-]+[^_.-]*$/, '');
  return validName(plain.length <= MAX_NAME_LENGTH ? plain : beginning.slice(0, MAX_NAME_LENGTH));
}

/** Makes a name of a path. Of one that is too long only the end is left, by which neighbours differ. */
function nameOfPath(path: string): string {
  const plain = plainName(path);
  const end = plain.slice(-MAX_NAME_LENGTH - 1).replace(/^[^_.-]*[_.-]+/, '');
  return validName(plain.length <= MAX_NAME_LENGTH ? plain : end.slice(-MAX_NAME_LENGTH));
}

function plainName(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_.-]+/g, '_');
}

function validName(name: string): string {
  return LIMIT_NAME_PATTERN.test(name) ? name : `Limit_${name}`;
}

function* pathsOf(parent: Path, children: readonly EnvoyDescriptor[]): Generator<Path> {
  for (const child of children) {
    const path = { domain: parent.domain, descriptors: [...parent.descriptors, child] };
    yield path;
    yield* pathsOf(path, child.descriptors);
  }
}

/** Values that share a counter are left out of the id. */
function idOf({ descriptors }: Path): 'descriptor' | 'rule' | readonly string[] {
  const isFree = ({ value }: EnvoyDescriptor): boolean => value === undefined || value.endsWith('*');
  if (!descriptors.some(({ shared }) => shared)) return 'descriptor';
  const own = descriptors.filter((each) => isFree(each) && !each.shared).map(({ key }) => key);
  return own.length === 0 ? 'rule' : own;
}

/** `ingress.path_/login.remote_address`, as envoyproxy/ratelimit names it. */
function pathText({ domain, descriptors }: Path): string {
  return [domain, ...descriptors.map(({ key, value }) => (value === undefined ? key : `${key}_${value}`))].join('.');
}

function droppedText(name: string): string {
  if (name !== 'quota_mode') return `${name} has no meaning here`;
  return 'quota_mode is not supported: the limit denies as any other now; for one that only counts, set shadow: true';
}

/** The other service reads `shadow_mode` only where a limit is, too. */
function shadowText({ descriptors }: EnvoyDescriptor): string {
  const below = descriptors.length > 0 ? ', and the limits below it deny' : '';
  return `shadow_mode has no effect without a rate_limit beside it${below}; write it beside each limit that only counts`;
}
