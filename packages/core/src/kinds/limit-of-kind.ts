import { complaint, SluiceError } from '../checks/errors.ts';
import { isPlainObject } from '../checks/options.ts';
import type { Key } from '../keys/key.ts';
import type { LimitSettings } from '../limits/limit-settings.ts';
import { HERE, otherCopy, VERSION, type Copy } from '../runtime/copy.ts';
import type { AnyKind } from './kind.ts';
import { RATE } from './rate/rate.ts';

/** The property of a limit that has its kind: for all copies of the package, because bundles may load it several times. */
export const KIND: unique symbol = Symbol.for('@sluice/core: the kind of a limit');

/** The kind of a limit, and the copy of the package that it is from. */
interface KindTag extends Copy {
  readonly kind: AnyKind;
}

/**
 * A limit of another kind than a rate: what `quota`, `concurrency`, `load` and `borrow` return. It is validated where it is
 * used, by `createLimiter` or a middleware.
 */
export interface LimitOfKind<Request = unknown> extends Omit<LimitSettings<Request>, 'key'> {
  readonly key?: Key<Request> | undefined;
  /** Its kind. */
  readonly [KIND]: KindTag;
}

/**
 * Makes a limit of a kind.
 *
 * @throws {SluiceError} `ERR_OPTION` when the options are not an object.
 */
export function ofKind<Request, Options extends { readonly key?: Key<Request> | undefined }>(
  kind: AnyKind,
  options: Options,
): Options & LimitOfKind<Request> {
  if (!isPlainObject(options)) {
    const remedy = `For example { key: clientNetwork(), ${kind.example} }.`;
    throw complaint('ERR_OPTION', { option: `options of ${kind.noun}`, demand: 'an object', value: options, remedy });
  }
  return Object.freeze({ ...options, [KIND]: tagOf(kind) });
}

// The kind itself is not shown where a limit is printed.
function tagOf(kind: AnyKind): KindTag {
  return Object.defineProperty({ version: VERSION, place: HERE } as KindTag, 'kind', { value: kind });
}

/** Whether a value is a limit of a kind, and not a plain object. */
export function isOfKind(value: unknown): value is LimitOfKind<never> {
  return typeof value === 'object' && value !== null && KIND in value;
}

/**
 * Returns the kind of a limit as a user wrote it: a rate if it names no kind.
 *
 * @param where - The path of the limit in error messages: `limits.Monthly`.
 * @throws {SluiceError} `ERR_LIMIT` for a kind of another version of the package.
 */
export function kindOf(where: string, definition: object): AnyKind {
  if (!isOfKind(definition)) return RATE;
  const { kind, ...copy } = definition[KIND];
  if (copy.version !== VERSION)
    throw new SluiceError('ERR_LIMIT', `is ${kind.noun}${otherCopy(copy)}`, { path: where });
  return kind;
}
