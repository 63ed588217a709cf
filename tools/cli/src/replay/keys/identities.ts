import type { IdFormat, IpAddress, Key } from '@sluice/core';
import { messageOf, shownText } from '@sluice/core/kit';
import { clientAddressFinder, type ClientAddressFinder } from '@sluice/core/http';
import { UsageError } from '../../console/failure.ts';
import { addressIn, addressList, headerText, isUnixSocket } from '../entries/address-text.ts';
import { BytesCache } from '../entries/bytes-cache.ts';
import { fieldText } from '../entries/field-text.ts';
import type { FieldName, LogFormat } from '../formats/line-parser.ts';
import type { ClientId, ClientTable, Identity } from './client-table.ts';
import type { IdRule } from './key-rules.ts';
import { LoggedRequest } from './logged-request.ts';
import { FieldPacker, unpackFields } from './packed-fields.ts';

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

/** The places for lines whose ids are remembered. */
const REMEMBERED = 65_536;
const INVALID = Symbol('invalid id');
type Found = ClientId | null | typeof INVALID;

/** Finds the ids of the requests of a log, each limit's by its rule. */
export class Identities {
  /** The fields of a line that the rules need. */
  readonly fields: readonly FieldName[];
  readonly #limits: readonly IdentifiedLimit[];
  readonly #finder: ClientAddressFinder;
  readonly #header: FieldName | undefined;
  /** The field of each limit whose ids come from one; -1 for the others. */
  readonly #fieldOf: readonly number[];
  readonly #needsRequest: boolean;
  /** What a request is made of for a key function of the user. */
  readonly #requestFields: readonly FieldName[];
  readonly #remembered = new BytesCache<readonly Found[]>(REMEMBERED);
  readonly #spans: Int32Array;

  /** @param headers - Those that the logs have, for key functions of the user. */
  constructor(
    limits: readonly IdentifiedLimit[],
    { trustedProxies, addressHeader }: AddressRule,
    headers: readonly FieldName[] = [],
  ) {
    this.#limits = limits;
    this.#finder = clientAddressFinder({
      ...(trustedProxies !== undefined && { trustedProxies }),
      ...(addressHeader !== undefined && { addressHeader }),
      // The log says nothing of proxies that are not trusted.
      warn: () => undefined,
    });
    const header = trustedProxies === undefined ? undefined : (addressHeader ?? 'x-forwarded-for').toLowerCase();
    this.#header = header === undefined ? undefined : `header:${header}`;
    this.#needsRequest = limits.some(({ rule }) => rule.from === 'key' && rule.needs === 'request');
    this.#requestFields = [...LoggedRequest.FIELDS, ...headers];
    this.fields = [...new Set(limits.flatMap(({ rule }) => this.#fieldsOf(rule)))];
    this.#fieldOf = limits.map(({ rule }) => (rule.from === 'field' ? this.fields.indexOf(rule.field) : -1));
    this.#spans = new Int32Array(2 * this.fields.length);
  }

  /**
   * Returns what packs the lines of one file for {@link identityOf}.
   *
   * @param fields - All fields that its parser finds.
   */
  packer({ isJson }: LogFormat, fields: readonly FieldName[]): FieldPacker {
    const numbers = this.fields.map((field) => fields.indexOf(field));
    return new FieldPacker(numbers, this.#needsRequest && isJson);
  }

  /** Returns the ids of a packed line, and counts what has none. */
  identityOf(packed: Buffer, start: number, end: number): Identity {
    // A function of the user may return something else each time.
    if (this.#needsRequest) return this.#counted(this.#foundIn(packed, start, end));
    let found = this.#remembered.get(packed, start, end);
    if (found === undefined) {
      found = this.#foundIn(packed, start, end);
      this.#remembered.set(packed, start, end, found);
    }
    return this.#counted(found);
  }

  #fieldsOf(rule: IdRule): readonly FieldName[] {
    if (rule.from === 'field') return [rule.field];
    if (rule.needs === 'nothing') return [];
    const header = this.#header === undefined ? [] : [this.#header];
    return ['address', ...header, ...(rule.needs === 'request' ? this.#requestFields : [])];
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

  #foundIn(bytes: Buffer, packedStart: number, end: number): readonly Found[] {
    const spans = this.#spans;
    const start = unpackFields(bytes, packedStart, this.fields.length, spans);
    const line = new LoggedRequest(this.fields, { bytes, start, end, spans });
    const source = new LineSource(this.#finder, line, this.#header);
    return this.#limits.map(({ rule, name }, i): Found => {
      if (rule.from === 'key' && rule.needs === 'address' && line.address === '') return null;
      return this.#attempt(i, () =>
        rule.from === 'key'
          ? idOf(rule.key, source, name)
          : this.#ofField(rule.format, bytes, spans[2 * this.#fieldOf[i]!]!, spans[2 * this.#fieldOf[i]! + 1]!),
      );
    });
  }

  #ofField(format: IdFormat, bytes: Buffer, start: number, end: number): string | null {
    return start === -1 ? null : format.canonical(fieldText(bytes, start, end));
  }

  #attempt(i: number, find: () => string | null): Found {
    const limit = this.#limits[i]!;
    try {
      const text = find();
      if (text === null) return null;
      // A server would reject it too. Unrelated clients would share a bucket.
      if (text === '') throw new Error('the id is empty');
      const { hash, row } = limit.clients.placeOf(text);
      return { text, hash, row };
    } catch (error) {
      if (error instanceof UsageError) throw error;
      limit.invalidExample ??= messageOf(error);
      return INVALID;
    }
  }
}

function idOf(key: Key, source: KeySource, limit: string): string | null {
  const id = key.idOf!(source, limit);
  if (typeof id === 'string' || id === null) return id;
  // If it is rejected, that must not end the process before this error is reported.
  void Promise.resolve(id).catch(() => undefined);
  throw new UsageError(
    `The key of the limit ${limit} returns a promise, which a replay can't wait for. Export a key that finds the id in the request.`,
  );
}

/** The input of a key. */
type KeySource = Parameters<NonNullable<Key['idOf']>>[0];

/** A line of a log, for keys. */
class LineSource implements KeySource {
  readonly #finder: ClientAddressFinder;
  readonly #line: LoggedRequest;
  readonly #header: FieldName | undefined;
  #request: unknown;
  #address: IpAddress | undefined;

  constructor(finder: ClientAddressFinder, line: LoggedRequest, header: FieldName | undefined) {
    this.#finder = finder;
    this.#line = line;
    this.#header = header;
  }

  get request(): unknown {
    return (this.#request ??= this.#line.shape);
  }

  get clientAddress(): IpAddress {
    return (this.#address ??= this.#found());
  }

  #found(): IpAddress {
    const { forwarded, last } = addressList(this.#line.address);
    const peer = isUnixSocket(last) ? 'unix' : addressIn(last);
    if (peer === undefined)
      throw new Error(
        `'${shownText(last, 60)}' is not an IP address. If the log has it elsewhere, use --format or --field.`,
      );
    return this.#finder({ peer, header: () => (forwarded === '' ? this.#forwarded() : forwarded) });
  }

  #forwarded(): string | undefined {
    const text = this.#header === undefined ? undefined : this.#line.text(this.#header);
    return text && headerText(text);
  }
}
