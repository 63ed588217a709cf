// The room import: files of other services as limits and tables.
import type { EnvoyDescriptor } from './envoy-descriptor.ts';
import type { EnvoyDomain, EnvoyFiles } from './envoy-file.ts';
import type { EnvoyLimit } from './envoy-limit.ts';
import { importedNumbers, type ImportAs, type ImportedNumbers } from './limit-numbers.ts';
import { nameOf, nameOfPath, Names } from './names.ts';

/** The files of `sluice serve`, as data. */
export interface Imported {
  readonly limits: Readonly<Record<string, ImportedNumbers>>;
  readonly tables: { readonly envoy: Readonly<Record<string, ImportedTable>> };
  /** What is not the same as before, with the place. */
  readonly notes: readonly string[];
}

/** A table of a domain, as a file has it. */
interface ImportedTable {
  /** The keys whose values are compared as they are. */
  readonly keys?: Readonly<Record<string, 'text'>>;
  readonly rules: readonly ImportedRule[];
}

/** A rule of a table, as a file has it. */
interface ImportedRule {
  readonly descriptor: readonly (string | Readonly<Record<string, string>>)[];
  readonly limit?: string;
  readonly id?: 'descriptor' | 'rule' | readonly string[];
  readonly unlimited?: true;
  readonly blocked?: true;
  readonly name?: string;
  readonly replaces?: readonly string[];
  readonly shadow?: true;
}

/** The limit of files that have none: a file of limits has one at least. No rule names it. */
const UNUSED = { Unused: { count: 1, period: '1s', idFormat: 'by' } };

/** Converts files of envoyproxy/ratelimit. */
export function converted({ domains, notes }: EnvoyFiles, as: ImportAs): Imported {
  const conversion = new Conversion(as);
  const envoy = Object.fromEntries(domains.map((each) => [each.domain, conversion.tableOf(each)]));
  const isEmpty = Object.keys(conversion.limits).length === 0;
  return {
    limits: isEmpty ? UNUSED : conversion.limits,
    tables: { envoy },
    notes: [...notes, ...conversion.notes],
  };
}

interface Path {
  readonly domain: string;
  readonly descriptors: readonly EnvoyDescriptor[];
}

class Conversion {
  readonly limits: Record<string, ImportedNumbers> = {};
  readonly notes: string[] = [];
  readonly #as: ImportAs;
  readonly #names = new Names();

  constructor(as: ImportAs) {
    this.#as = as;
  }

  tableOf({ domain, descriptors }: EnvoyDomain): ImportedTable {
    const paths = [...pathsOf({ domain, descriptors: [] }, descriptors)];
    const keys = keysOfCases(paths);
    return {
      ...(keys.length > 0 && { keys: Object.fromEntries(keys.map((key) => [key, 'text'])) }),
      rules: this.#rulesOf(paths),
    };
  }

  #rulesOf(paths: readonly Path[]): readonly ImportedRule[] {
    const named = new Map<string, readonly string[]>();
    const waiting: { readonly rule: ImportedRule; readonly replaces: readonly string[]; readonly where: string }[] = [];
    for (const path of paths) {
      const { limit } = lastOf(path);
      const where = pathText(path);
      this.#noteLost(path, where);
      const rule = this.#ruleOf(path, where);
      if (limit?.name !== undefined) {
        // Nothing changes if a limit is replaced that lets all pass.
        named.set(limit.name, [...(named.get(limit.name) ?? []), rule?.limit ?? rule?.name ?? []].flat());
      }
      if (rule !== undefined) waiting.push({ rule, replaces: limit?.replaces ?? [], where });
    }
    return waiting.map(({ rule, replaces, where }) => {
      const limits = new Set(replaces.flatMap((name) => named.get(name) ?? this.#unknown(name, where)));
      return limits.size === 0 ? rule : { ...rule, replaces: [...limits] };
    });
  }

  #unknown(name: string, where: string): readonly string[] {
    this.notes.push(`${where}: it replaces ${name}, which no limit of the domain is named`);
    return [];
  }

  #noteLost(path: Path, where: string): void {
    const last = lastOf(path);
    for (const name of last.dropped) this.notes.push(`${where}: ${droppedText(name)}`);
    if (last.shadow && last.limit === undefined && !isShadowBelow(last))
      this.notes.push(`${where}: ${shadowText(last)}`);
    if (last.limit === undefined || !isCounted(last.limit)) return;
    const key = keyOfBoth(path);
    if (key !== undefined) {
      this.notes.push(`${where}: the values of both ${key} are counted apart now, also those that shared a counter`);
    }
  }

  /** A descriptor without a limit that has others below it needs no rule. Without any it lets its value pass. */
  #ruleOf(path: Path, where: string): ImportedRule | undefined {
    const { limit, descriptors, shadow } = lastOf(path);
    if (limit === undefined && descriptors.length > 0) return undefined;
    const descriptor = path.descriptors.map(({ key, value }) => (value === undefined ? key : { [key]: value }));
    if (limit === undefined || limit.unlimited) return { descriptor, unlimited: true };
    const mark = shadow ? ({ shadow: true } as const) : {};
    if (isCounted(limit)) return { descriptor, limit: this.#defined(limit, where), id: idOf(path), ...mark };
    const name = limit.name === undefined ? {} : { name: this.#named(limit.name, where) };
    return { descriptor, blocked: true, ...name, ...mark };
  }

  #defined({ unit, requestsPerUnit, name }: EnvoyLimit, where: string): string {
    const { numbers, note } = importedNumbers(requestsPerUnit, unit!, this.#as);
    if (note !== undefined) this.notes.push(`${where}: ${note}`);
    const chosen = name === undefined ? this.#names.free(nameOfPath(where)) : this.#named(name, where);
    this.limits[chosen] = { ...numbers, idFormat: 'by' };
    return chosen;
  }

  #named(name: string, where: string): string {
    const chosen = this.#names.free(nameOf(name));
    if (chosen !== name) this.notes.push(`${where}: its name ${name} is ${chosen} now`);
    return chosen;
  }
}

/** Whether requests are counted: all are denied by a limit of 0. */
function isCounted({ unlimited, requestsPerUnit }: EnvoyLimit): boolean {
  return !unlimited && requestsPerUnit > 0;
}

function lastOf({ descriptors }: Path): EnvoyDescriptor {
  return descriptors.at(-1)!;
}

function* pathsOf(parent: Path, children: readonly EnvoyDescriptor[]): Generator<Path> {
  for (const child of children) {
    const path = { domain: parent.domain, descriptors: [...parent.descriptors, child] };
    yield path;
    yield* pathsOf(path, child.descriptors);
  }
}

/**
 * Returns the keys that have values which differ by case alone. The other service compares all values as they are; a table
 * compares hosts and methods without their case, and has a rule for each of them once.
 */
function keysOfCases(paths: readonly Path[]): readonly string[] {
  const values = new Map<string, Map<string, string>>();
  const keys = new Set<string>();
  for (const path of paths) {
    const { key, value } = lastOf(path);
    // Values of paths differ by case in a table, too.
    if (value === undefined || value.startsWith('/')) continue;
    const known = values.get(key) ?? new Map<string, string>();
    values.set(key, known);
    const same = known.get(value.toLowerCase()) ?? value;
    known.set(value.toLowerCase(), same);
    if (same !== value) keys.add(key);
  }
  return [...keys];
}

/** Values that share a counter are left out of the id. */
function idOf(path: Path): 'descriptor' | 'rule' | readonly string[] {
  if (!path.descriptors.some(({ shared }) => shared)) return 'descriptor';
  const own = new Set(path.descriptors.filter(isCountedApart).map(({ key }) => key));
  return own.size === 0 ? 'rule' : [...own];
}

function isCountedApart({ value, shared }: EnvoyDescriptor): boolean {
  return !shared && (value === undefined || value.includes('*'));
}

/** A key with values that share a counter, and with others that do not: an id has all of a key or none. */
function keyOfBoth({ descriptors }: Path): string | undefined {
  const apart = new Set(descriptors.filter(isCountedApart).map(({ key }) => key));
  return descriptors.find(({ key, shared }) => shared && apart.has(key))?.key;
}

/** `ingress.path_/login.remote_address`, as envoyproxy/ratelimit names it. */
function pathText({ domain, descriptors }: Path): string {
  return [domain, ...descriptors.map(({ key, value }) => (value === undefined ? key : `${key}_${value}`))].join('.');
}

function droppedText(name: string): string {
  if (name === 'metadata') return 'metadata is not sent to Envoy here';
  if (name !== 'quota_mode') return `${name} has no meaning here`;
  return 'quota_mode is not supported: the limit denies as any other now; for one that only counts, set shadow: true';
}

/** Envoy Gateway writes `shadow_mode` beside each descriptor above a limit in shadow mode, too. */
function isShadowBelow({ descriptors }: EnvoyDescriptor): boolean {
  const isShadow = (each: EnvoyDescriptor): boolean =>
    (each.limit === undefined || each.shadow) && each.descriptors.every(isShadow);
  return descriptors.length > 0 && descriptors.every(isShadow);
}

/** The other service reads `shadow_mode` only where a limit is, too. */
function shadowText({ descriptors }: EnvoyDescriptor): string {
  const below = descriptors.length > 0 ? ', and the limits below it deny' : '';
  return `shadow_mode has no effect without a rate_limit beside it${below}; write it beside each limit that only counts`;
}
