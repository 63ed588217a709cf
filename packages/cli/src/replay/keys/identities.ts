import type { Key, KeySource } from '@sluice/core';
import { IpAddress } from '@sluice/core';
import { clientAddressFinder, messageOf, type ClientAddressFinder } from '@sluice/core/kit';
import { UsageError } from '../../console/failure.ts';
import { BytesCache } from '../entries/bytes-cache.ts';
import { fieldText } from '../entries/field-text.ts';
import { ValueCache } from '../entries/value-cache.ts';
import type { FieldName, LogFormat } from '../formats/line-parser.ts';
import type { ClientTable } from './client-table.ts';
import type { ClientId, Identity } from './identity.ts';
import type { IdRule } from './key-rules.ts';
import { LoggedRequest } from './logged-request.ts';

/** How the address of a client is found, as in the options of a limiter. */
export interface AddressRule {
  readonly trustedProxies: readonly string[] | undefined;
  readonly addressHeader: string | undefined;
}

/** A limit of which requests have ids. */
export interface IdentifiedLimit {
  readonly name: string;
  readonly rule: IdRule;
  readonly clients: ClientTable;
  /** Requests without an id: the field is missing, or the key returned null. The limit does not apply to them. */
  withoutId: number;
  /** Requests with text that is not a valid id. A server would answer 400 or so. */
  invalidIds: number;
  /** Why the first of them is not valid. */
  invalidExample: string | undefined;
}

const CACHED = 16_384;
const INVALID = Symbol('invalid id');
type Found = ClientId | null | typeof INVALID;

/** Finds the ids of the requests of a log, each limit's by its rule. */
export class Identities {
  /** The fields of a line that the rules need. */
  readonly fields: readonly FieldName[];
  readonly #limits: readonly IdentifiedLimit[];
  readonly #finder: ClientAddressFinder;
  readonly #header: string | undefined;
  readonly #ids: readonly ValueCache<ClientId>[];
  /** By the text of a field, for each limit. */
  readonly #byField: readonly ValueCache<Exclude<Found, null>>[];
  /** By the address, and the header if proxies are trusted: for all limits whose ids need no more. */
  readonly #byAddress = new ValueCache<readonly Found[]>(CACHED);
  readonly #byBytes = new BytesCache<readonly Found[]>();
  /** Whether the address is enough for the ids of all limits. */
  readonly #isByAddressOnly: boolean;
  readonly #needsRequest: boolean;

  constructor(limits: readonly IdentifiedLimit[], { trustedProxies, addressHeader }: AddressRule) {
    this.#limits = limits;
    this.#finder = clientAddressFinder({
      ...(trustedProxies !== undefined && { trustedProxies }),
      ...(addressHeader !== undefined && { addressHeader }),
      // The log says nothing of proxies that are not trusted.
      warn: () => undefined,
    });
    this.#header = trustedProxies === undefined ? undefined : (addressHeader ?? 'x-forwarded-for').toLowerCase();
    this.#ids = limits.map(() => new ValueCache<ClientId>(CACHED));
    this.#byField = limits.map(() => new ValueCache<Exclude<Found, null>>(CACHED));
    this.#isByAddressOnly = limits.every(({ rule }) => rule.from === 'key' && rule.needs !== 'request');
    this.#needsRequest = limits.some(({ rule }) => rule.from === 'key' && rule.needs === 'request');
    const fields = limits.flatMap(({ rule }) => (rule.from === 'field' ? [rule.field] : []));
    const header = this.#header === undefined ? [] : [`header:${this.#header}`];
    const ofRequests = this.#needsRequest ? LoggedRequest.FIELDS : [];
    this.fields = [...new Set([...header, ...fields, ...ofRequests])];
  }

  /**
   * Returns the reader of ids for one file.
   *
   * @param fields - All fields that its parser finds.
   */
  reader(format: LogFormat, fields: readonly FieldName[]): IdentityReader {
    const numberOf = (field: FieldName | undefined): number => (field === undefined ? -1 : fields.indexOf(field));
    const address = numberOf('address');
    const header = this.#header === undefined ? -1 : numberOf(`header:${this.#header}`);
    const byLimit = this.#limits.map(({ rule }) => (rule.from === 'field' ? numberOf(rule.field) : -1));
    return {
      identityOf: (bytes, start, end, spans) => {
        const found = this.#ofAddress(bytes, spans, address, header);
        if (this.#isByAddressOnly) return this.#counted(found);
        const request = this.#needsRequest
          ? new LoggedRequest(format, fields, { bytes, start, end, spans })
          : undefined;
        return this.#counted(
          found.map((byAddress, i) => {
            const { rule } = this.#limits[i]!;
            if (rule.from === 'field')
              return this.#ofField(i, bytes, spans[2 * byLimit[i]!]!, spans[2 * byLimit[i]! + 1]!);
            return rule.needs === 'request' ? this.#ofRequest(i, rule.key, request!) : byAddress;
          }),
        );
      },
    };
  }

  /** Counts what has no id, and returns the ids. */
  #counted(found: readonly Found[]): Identity {
    let isComplete = true;
    for (let i = 0; i < found.length; i++) {
      const id = found[i];
      if (id === null || id === INVALID) {
        isComplete = false;
        if (id === null) this.#limits[i]!.withoutId++;
        else this.#limits[i]!.invalidIds++;
      }
    }
    return isComplete ? (found as Identity) : found.map((id) => (id === INVALID ? null : id!));
  }

  #ofAddress(bytes: Buffer, spans: Int32Array, address: number, header: number): readonly Found[] {
    const start = spans[2 * address]!;
    const end = spans[2 * address + 1]!;
    const headerStart = header === -1 ? -1 : spans[2 * header]!;
    const isPeerOnly = start !== -1 && headerStart === -1;
    const same = isPeerOnly ? this.#byBytes.get(bytes, start, end) : undefined;
    if (same !== undefined) return same;
    const peer = start === -1 ? '' : bytes.toString('latin1', start, end);
    const forwarded = headerStart === -1 ? undefined : fieldText(bytes, headerStart, spans[2 * header + 1]!);
    const key = forwarded === undefined ? peer : `${peer}\n${forwarded}`;
    const found = this.#byAddress.get(key) ?? this.#foundAt(key, peer, forwarded);
    if (isPeerOnly) this.#byBytes.set(bytes, start, end, found);
    return found;
  }

  #foundAt(key: string, peer: string, forwarded: string | undefined): readonly Found[] {
    const source = new AddressSource(this.#finder, peer, forwarded);
    const found = this.#limits.map(({ rule }, i): Found => {
      if (rule.from === 'field' || rule.needs === 'request') return null;
      return this.#attempt(i, () =>
        peer === '' && rule.needs === 'address' ? null : idOf(rule.key, source, this.#limits[i]!.name),
      );
    });
    this.#byAddress.set(key, found);
    return found;
  }

  #ofField(i: number, bytes: Buffer, start: number, end: number): Found {
    if (start === -1) return null;
    const raw = bytes.toString('latin1', start, end);
    const known = this.#byField[i]!.get(raw);
    if (known !== undefined) return known;
    const { rule } = this.#limits[i]!;
    const found = this.#attempt(i, () =>
      (rule as { format: Key['format'] }).format.canonical(fieldText(bytes, start, end)),
    );
    this.#byField[i]!.set(raw, found!);
    return found;
  }

  #ofRequest(i: number, key: Key, request: LoggedRequest): Found {
    const source = new AddressSource(this.#finder, request.address, request.headerLine(this.#header), request);
    return this.#attempt(i, () => idOf(key, source, this.#limits[i]!.name));
  }

  #attempt(i: number, find: () => string | null): Found {
    try {
      const text = find();
      if (text === null) return null;
      // A server would reject it too. Unrelated clients would share a bucket.
      if (text === '') throw new Error('the id is empty');
      return this.#idNamed(i, text);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      this.#limits[i]!.invalidExample ??= messageOf(error);
      return INVALID;
    }
  }

  #idNamed(i: number, text: string): ClientId {
    const known = this.#ids[i]!.get(text);
    if (known !== undefined) return known;
    const { name, clients } = this.#limits[i]!;
    const id: ClientId = { text, ...clients.rowOf(text), entry: { limit: name, id: text } };
    this.#ids[i]!.set(text, id);
    return id;
  }
}

/** Finds the ids of the lines of one file. */
export interface IdentityReader {
  identityOf(bytes: Buffer, start: number, end: number, spans: Int32Array): Identity;
}

function idOf(key: Key, source: KeySource<unknown>, limit: string): string | null {
  const id = key.idOf!(source, limit);
  if (typeof id === 'string' || id === null) return id;
  // If it is rejected, that must not end the process before this error is reported.
  void Promise.resolve(id).catch(() => undefined);
  throw new UsageError(
    `The key of the limit ${limit} returns a promise, which a replay can't wait for. Export a key that finds the id in the request.`,
  );
}

const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

/** Reads an address with or without a port. */
function addressOf(text: string): IpAddress | undefined {
  const [, bracketed, plain] = WITH_PORT.exec(text) ?? [];
  return IpAddress.parse(bracketed ?? plain ?? text);
}

/** The input of a key. */
class AddressSource implements KeySource<unknown> {
  readonly request: unknown;
  readonly #finder: ClientAddressFinder;
  readonly #peer: string;
  readonly #forwarded: string | undefined;
  #address: IpAddress | undefined;

  constructor(finder: ClientAddressFinder, peer: string, forwarded: string | undefined, request?: LoggedRequest) {
    this.#finder = finder;
    this.#peer = peer;
    this.#forwarded = forwarded;
    this.request = request?.shape;
  }

  get clientAddress(): IpAddress {
    return (this.#address ??= this.#finder({
      peer: this.#peer.startsWith('unix:') ? 'unix' : addressOf(this.#peer),
      header: () => this.#forwarded,
    }));
  }
}
