import type { Key } from '../../keys/key.ts';
import { ofKind, type LimitOfKind } from '../limit-of-kind.ts';
import { LOAD, type Load } from './load-kind.ts';
import type { LimitSettings } from '../../limits/limit-settings.ts';

/** The options of {@link load}. */
export interface LoadLimitOptions<Request = unknown> extends Pick<LimitSettings<Request>, 'disabled'>, Load {
  /** What distinguishes clients: for about a minute, a client is either denied or not. Default: `clientNetwork()`. */
  readonly key?: Key<Request> | undefined;
}

/**
 * A load limit.
 *
 *     const limits = { Worker: load({ load: eventLoop() }) };
 */
export function load<Request = unknown>(
  options: LoadLimitOptions<Request>,
): LoadLimitOptions<Request> & LimitOfKind<Request> {
  return ofKind<Request, LoadLimitOptions<Request>>(LOAD, options);
}
