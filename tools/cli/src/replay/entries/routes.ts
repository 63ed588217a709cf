import { UsageError } from '../../console/failure.ts';
import { BytesCache } from './bytes-cache.ts';
import { copyBytes } from './copy-bytes.ts';
import { fieldText } from './field-text.ts';

type Span = readonly [start: number, end: number];

/** What a request asks for, as far as limits and the report need it. */
export interface Target {
  /** The number of its route in {@link Routes.names}. */
  readonly route: number;
  readonly cost: number;
  /** For each limit, whether it applies to the request. */
  readonly applies: readonly boolean[];
}

/** The options of {@link Routes}. */
export interface RouteOptions {
  /** Templates such as `GET /users/:id`. Default: paths are grouped by replacing what looks like an id. */
  readonly routes: readonly string[];
  /** Rules such as `POST /orders=5`. The first that matches counts. Default: each request costs 1. */
  readonly costs: readonly string[];
  /** Rules such as `Orders=POST /orders`: a limit with rules applies only to requests that one of them matches. */
  readonly only: readonly string[];
  /** The names of the limits, in their order. */
  readonly limits: readonly string[];
  /** The names of limits that are left out. Rules for them have no effect. */
  readonly others?: readonly string[];
}

/** The most routes that are told apart. All others are one. */
export const MAX_ROUTES = 200;
/** The places for requests that are remembered. */
const REMEMBERED = 32_768;
const OTHER = 'other';
const [SPACE, QUESTION] = [32, 63];

/** Finds the route, the cost and the limits of a request by its method and path. */
export class Routes {
  /** The names of all routes so far; the first is that of all others. */
  readonly names: string[] = [OTHER];
  readonly #remembered = new BytesCache<Target>(REMEMBERED);
  /** A method and a path of different places, joined by a space. No line is longer than 64 KiB. */
  readonly #joined = Buffer.alloc(65_537);
  /** All targets that differ: many requests are kept at a time, and these share them. */
  readonly #targets = new Map<string, Target>();
  readonly #numbers = new Map<string, number>([[OTHER, 0]]);
  readonly #templates: readonly Pattern[];
  readonly #costs: readonly { readonly pattern: Pattern; readonly cost: number }[];
  /** For each limit its patterns; empty for all requests. */
  readonly #only: readonly (readonly Pattern[])[];

  /** @throws {UsageError} For a rule that is not valid. */
  constructor({ routes, costs, only, limits, others = [] }: RouteOptions) {
    this.#templates = routes.map((text) => new Pattern(text));
    this.#costs = costs.map(costRule);
    const rules = only.map((text) => limitRule(text, [...limits, ...others]));
    this.#only = limits.map((name) => rules.filter(({ limit }) => limit === name).map(({ pattern }) => pattern));
  }

  /** Returns the target of `GET /path HTTP/1.1`, of which the query and what follows is not needed. */
  ofRequest(bytes: Buffer, start: number, end: number): Target {
    const space = indexOf(bytes, SPACE, start, end);
    let to = space === -1 ? end : space + 1;
    while (to < end && bytes[to] !== SPACE && bytes[to] !== QUESTION) to++;
    return this.#of(bytes, start, to);
  }

  /** Returns the target of a method and a path in two places. The start of one that the line does not have is -1. */
  ofParts(bytes: Buffer, [methodStart, methodEnd]: Span, [pathStart, pathEnd]: Span): Target {
    const method = methodStart === -1 ? 0 : methodEnd - methodStart;
    copyBytes(bytes, methodStart, this.#joined, 0, method);
    this.#joined[method] = SPACE;
    const query = pathStart === -1 ? -1 : indexOf(bytes, QUESTION, pathStart, pathEnd);
    const path = pathStart === -1 ? 0 : (query === -1 ? pathEnd : query) - pathStart;
    copyBytes(bytes, pathStart, this.#joined, method + 1, path);
    return this.#of(this.#joined, 0, method + 1 + path);
  }

  #of(bytes: Buffer, start: number, end: number): Target {
    const known = this.#remembered.get(bytes, start, end);
    if (known !== undefined) return known;
    const target = this.#made(fieldText(bytes, start, end));
    this.#remembered.set(bytes, start, end, target);
    return target;
  }

  #made(text: string): Target {
    const space = text.indexOf(' ');
    const [method, url] = space === -1 ? ['', text] : [text.slice(0, space), text.slice(space + 1)];
    // A question mark may have been an escape of JSON.
    const path = pathOf(url.split('?', 1)[0]!);
    const rule = this.#costs.find(({ pattern }) => pattern.matches(method, path));
    return this.#shared({
      route: this.#routeOf(method, path),
      cost: rule?.cost ?? 1,
      applies: this.#only.map((all) => all.length === 0 || all.some((pattern) => pattern.matches(method, path))),
    });
  }

  #shared(target: Target): Target {
    const key = JSON.stringify(target);
    const known = this.#targets.get(key);
    if (known === undefined) this.#targets.set(key, target);
    return known ?? target;
  }

  #routeOf(method: string, path: string): number {
    const template = this.#templates.find((each) => each.matches(method, path));
    if (template === undefined && this.#templates.length > 0) return 0;
    return this.#numberOf(template?.text ?? `${/^[A-Z]{1,16}$/.test(method) ? method : '?'} ${grouped(path)}`);
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    if (this.names.length >= MAX_ROUTES) return 0;
    this.#numbers.set(name, this.names.length);
    return this.names.push(name) - 1;
  }
}

/** A pattern of methods and paths: `POST /orders`, `/users/:id`, `GET /static/*`. */
class Pattern {
  readonly text: string;
  readonly #method: string | undefined;
  readonly #segments: readonly string[];

  constructor(text: string) {
    const [, method, path] = /^(?:([A-Za-z]+) )?(\/\S*)$/.exec(text.trim()) ?? [];
    if (path === undefined) {
      throw new UsageError(
        `A pattern of requests must be a path with an optional method before it, but was '${text}'. For example 'POST /orders', '/users/:id' or '/static/*'.`,
      );
    }
    this.text = text.trim();
    this.#method = method?.toUpperCase();
    this.#segments = path.split('/');
  }

  matches(method: string, path: string): boolean {
    if (this.#method !== undefined && this.#method !== method) return false;
    const segments = path.split('/');
    const isPrefix = this.#segments.at(-1) === '*';
    const fixed = isPrefix ? this.#segments.slice(0, -1) : this.#segments;
    if (isPrefix ? segments.length < fixed.length + 1 : segments.length !== fixed.length) return false;
    return fixed.every((segment, i) => segment === segments[i] || (segment.startsWith(':') && segments[i] !== ''));
  }
}

function costRule(text: string): { readonly pattern: Pattern; readonly cost: number } {
  const at = text.lastIndexOf('=');
  const cost = text.slice(at + 1);
  if (at === -1 || !/^\d{1,12}$/.test(cost)) {
    throw new UsageError(
      `\`--cost\` must be a pattern of requests and a whole number, but was '${text}'. For example --cost 'POST /orders=5'.`,
    );
  }
  return { pattern: new Pattern(text.slice(0, at)), cost: Number(cost) };
}

function limitRule(text: string, limits: readonly string[]): { readonly limit: string; readonly pattern: Pattern } {
  const at = text.indexOf('=');
  const limit = text.slice(0, Math.max(0, at));
  if (limits.includes(limit)) return { limit, pattern: new Pattern(text.slice(at + 1)) };
  throw new UsageError(
    `\`--only\` must be the name of a limit and a pattern of requests, but was '${text}'. For example --only '${limits[0] ?? 'Orders'}=POST /orders'. Limits: ${limits.join(', ')}.`,
  );
}

/** A proxy's log may have whole URLs. */
function pathOf(url: string): string {
  if (!/^[a-z]+:\/\//i.test(url)) return url;
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  return slash === -1 ? '/' : url.slice(slash);
}

const MAX_SEGMENTS = 6;
const ID = /^(?:\d+|[0-9a-f]{8,}|[0-9a-f-]{32,36}|.{33,}|(?=.*\d)[\w~.-]{16,})$/i;

/** Replaces what looks like an id by `:id`, and cuts deep paths. */
function grouped(path: string): string {
  const segments = path.split('/');
  const shown = segments.slice(0, MAX_SEGMENTS).map((segment) => (ID.test(segment) ? ':id' : segment));
  return segments.length > MAX_SEGMENTS ? `${shown.join('/')}/*` : shown.join('/');
}

function indexOf(bytes: Buffer, byte: number, start: number, end: number): number {
  for (let at = start; at < end; at++) if (bytes[at] === byte) return at;
  return -1;
}
