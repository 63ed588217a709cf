import type { IdFormat, IpAddress } from '@sluice/core';
import { peerOf, type ClientAddressFinder, type Peer } from '@sluice/core/http';
import type { IncomingMessage } from 'node:http';
import { canonicalId, idOfAddress } from '../ids/canonical-id.ts';
import { idText } from '../ids/id-text.ts';
import { replacedText, textOf } from '../spellings/bytes.ts';
import { canonicalHost } from '../spellings/canonical-host.ts';
import { canonicalMethod, handledAs } from '../spellings/canonical-method.ts';
import { UNKNOWN, type Spellings } from '../spellings/spellings.ts';
import type { TextKind } from '../spellings/text-kind.ts';
import type { HttpRule } from '../tables/table.ts';
import { MisconfiguredProxy } from './misconfigured-proxy.ts';

/** The field by which a proxy says which path was asked for. */
const URI_FIELD = 'x-forwarded-uri';
/** Not valid in any format of ids: the request is denied, and does not take from a bucket that others have. */
const NOT_AN_ID = '';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Z-]+$/;

/** The request of a client, as the proxy describes it in the fields of its own request. */
export class AskedRequest {
  readonly #incoming: IncomingMessage;
  readonly #find: ClientAddressFinder;
  #address: IpAddress | undefined;
  readonly #spellings = new Map<TextKind, Spellings>();

  constructor(incoming: IncomingMessage, find: ClientAddressFinder) {
    this.#incoming = incoming;
    this.#find = find;
  }

  get peer(): Peer {
    return peerOf(this.#incoming);
  }

  /** @param name - In lower case. */
  header(name: string): string | undefined {
    const value = this.#incoming.headers[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /** The method of the client: X-Forwarded-Method, or the method of this request, which nginx keeps. */
  get method(): string {
    const forwarded = this.#incoming.headers['x-forwarded-method'] as string | undefined;
    return (forwarded ?? this.#incoming.method ?? 'GET').toUpperCase();
  }

  /** Whether a rule applies to the request. One that only counts applies if it does for every backend. */
  matches(rule: HttpRule): boolean {
    return this.#matchesMethod(rule) && this.#matchesPath(rule);
  }

  /** Whether rules apply because not all spellings of the path are known. */
  get hasUnknownSpellings(): boolean {
    return [...this.#spellings.values()].some(({ areAll }) => !areAll);
  }

  /** A method that is not one could be any. */
  #matchesMethod({ methods, shadow }: HttpRule): boolean {
    if (methods === undefined) return true;
    const { method } = this;
    if (!TOKEN.test(method)) return !shadow;
    return methods.has(method) || (!shadow && methods.has(handledAs(method)));
  }

  #matchesPath({ paths, pathKind, shadow }: HttpRule): boolean {
    if (paths === undefined) return true;
    const spellings = this.#spellingsBy(pathKind);
    return shadow ? paths.matchAll(spellings) : paths.matchAny(spellings);
  }

  /**
   * Returns the canonical id of the request; null if the limit does not apply to it.
   *
   * @throws {SluiceError} `ERR_ID` if the text is not valid for the format.
   * @throws {MisconfiguredProxy} If the proxy does not send what is needed.
   */
  idFor(rule: HttpRule, format: IdFormat): string | null {
    const { id } = rule;
    if (id.from === 'address') return idOfAddress(format, (this.#address ??= this.#find(this)));
    if (id.from === 'everyone') return 'everyone';
    const text = id.from === 'header' ? this.#only(id.name) : this.#textFor(rule, id.from);
    return text === undefined ? null : canonicalId(format, text);
  }

  /** Returns the value of a field that may be there once: by a second one, a client could choose its bucket. */
  #only(name: string): string | undefined {
    const values = this.#incoming.headersDistinct[name];
    if (values !== undefined && values.length > 1) return NOT_AN_ID;
    const value = this.header(name);
    return value === undefined ? undefined : (textOf(value) ?? value);
  }

  #textFor(rule: HttpRule, from: 'host' | 'method' | 'path'): string {
    if (from === 'method') return canonicalMethod(this.method);
    return from === 'host' ? this.#host() : this.#pathFor(rule);
  }

  #host(): string {
    const { headers } = this.#incoming;
    const text = (headers['x-forwarded-host'] as string | undefined) ?? headers.host ?? '';
    return canonicalHost(replacedText(text))?.host ?? NOT_AN_ID;
  }

  #pathFor({ paths, pathKind }: HttpRule): string {
    const target = this.#target();
    if (target === undefined) return NOT_AN_ID;
    if (paths === undefined) return pathKind.canonical(target);
    return idText(pathKind, target, { isMatch: (spelling) => paths.matches(spelling), pattern: paths.first });
  }

  #spellingsBy(kind: TextKind): Spellings {
    const known = this.#spellings.get(kind);
    if (known !== undefined) return known;
    const target = this.#target();
    const spellings = target === undefined ? UNKNOWN : kind.spellings(target);
    this.#spellings.set(kind, spellings);
    return spellings;
  }

  /**
   * Returns the target of the client's request, in bytes; undefined if the field has none, or several of which one may be
   * the client's: no target has a space.
   *
   * @throws {MisconfiguredProxy} If there is no such field.
   */
  #target(): string | undefined {
    const uri = this.#incoming.headers[URI_FIELD] as string | undefined;
    if (uri !== undefined) return uri === '' || uri.includes(', ') ? undefined : uri;
    throw new MisconfiguredProxy(
      'A table has paths, but the proxy sends no X-Forwarded-Uri. Let it send one, e.g. in nginx: proxy_set_header X-Forwarded-Uri $request_uri;',
    );
  }
}
