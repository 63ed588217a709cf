import type { LimitOfKind } from '../kinds/limit-of-kind.ts';
import type { Rate } from '../kinds/rate/rate.ts';
import type { LimitSettings } from '../limits/limit-settings.ts';

/** A rate as a limit of a limiter: `count` tokens refill every `period`. */
export interface RateDefinition<Request = unknown> extends LimitSettings<Request>, Rate {}

/** A limit: a rate as a plain object, or what `quota`, `concurrency`, `load` or `borrow` return. */
export type LimitDefinition<Request = unknown> = RateDefinition<Request> | LimitOfKind<Request>;

/** Limits by name. A name is `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters, and unique ignoring case. */
export type Limits<Request = unknown, Name extends string = string> = {
  readonly [Each in Name]: LimitDefinition<Request>;
};
