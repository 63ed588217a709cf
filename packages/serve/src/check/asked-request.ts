import { IpAddress, type IdFormat, SluiceError } from '@sluice/core';
import { peerOf, type ClientAddressFinder, type Peer } from '@sluice/core/kit';
import type { IncomingMessage } from 'node:http';
import { canonicalId, idOfAddress } from '../ids/canonical-id.ts';
import { plainPath } from '../tables/path-pattern.ts';
import type { HttpRule } from '../tables/table.ts';

/** The field by which a proxy says which path was asked for. */
const URI_FIELD = 'x-forwarded-uri';

/** Thrown if a proxy does not send what its table needs. */
export class MisconfiguredProxy extends Error {}

/** The request of a client, as the proxy describes it in the fields of its own request. */
export class AskedRequest {
  readonly #incoming: IncomingMessage;
  readonly #find: ClientAddressFinder;
  #address: IpAddress | undefined;
  #path: string | undefined;

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

  /** That of the client: X-Forwarded-Method, or the method of this request, which nginx keeps. */
  get method(): string {
    return (this.header('x-forwarded-method') ?? this.#incoming.method ?? 'GET').toUpperCase();
  }

  get path(): string {
    return (this.#path ??= this.#foundPath());
  }

  /** Whether a rule applies to the request. */
  matches({ methods, paths }: HttpRule): boolean {
    if (methods !== undefined && !methods.has(this.method)) return false;
    return paths === undefined || paths.some((pattern) => pattern.matches(this.path));
  }

  /**
   * Returns the canonical id of the request; null if the limit does not apply to it.
   *
   * @throws {SluiceError} `ERR_ID` if the text is not valid for the format.
   * @throws {MisconfiguredProxy} If the proxy does not send what is needed.
   */
  idFor({ id }: HttpRule, format: IdFormat): string | null {
    if (id.from === 'address') return idOfAddress(format, (this.#address ??= this.#foundAddress()));
    if (id.from === 'everyone') return 'everyone';
    const text = id.from === 'header' ? this.header(id.name) : this.#textOf(id.from);
    return text === undefined ? null : canonicalId(format, text);
  }

  #textOf(from: 'host' | 'method' | 'path'): string {
    if (from !== 'host') return this[from];
    return (this.header('x-forwarded-host') ?? this.header('host') ?? '').toLowerCase();
  }

  #foundPath(): string {
    const uri = this.header(URI_FIELD);
    if (uri !== undefined) return plainPath(uri);
    throw new MisconfiguredProxy(
      'A table has paths, but the proxy sends no X-Forwarded-Uri. Let it send one, e.g. in nginx: proxy_set_header X-Forwarded-Uri $request_uri;',
    );
  }

  /** Without the field, all clients of the proxy would share its own bucket. */
  #foundAddress(): IpAddress {
    if (this.header('x-forwarded-for') === undefined) {
      throw new MisconfiguredProxy(
        'A table has id: address, but the proxy sends no X-Forwarded-For. Let it send one, e.g. in nginx: proxy_set_header X-Forwarded-For $remote_addr;',
      );
    }
    try {
      return this.#find(this);
    } catch (error) {
      if (error instanceof SluiceError) throw new MisconfiguredProxy(error.message);
      throw error;
    }
  }
}
