import type { KIND, LimitOfKind } from '../kinds/limit-of-kind.ts';
import type { Rate } from '../kinds/rate/rate.ts';
import type { LimitSettings } from '../limits/limit-settings.ts';

/** A property that only limits of other kinds have. It lets the compiler distinguish a rate, and name its options in errors. */
interface WithoutKind {
  readonly [KIND]?: undefined;
}

/**
 * A rate as a limit of a limiter: `count` tokens refill every `period`. An intersection, because the compiler then infers the
 * type of the request also where an option is wrong, and the error is about that option.
 */
export type RateDefinition<Request = unknown> = LimitSettings<Request> & Rate & WithoutKind;

/** A limit: a rate as a plain object, or what `quota`, `concurrency`, `load` or `borrow` return. */
export type LimitDefinition<Request = unknown> = RateDefinition<Request> | LimitOfKind<Request>;

/** Limits by name. A name is `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters, and unique ignoring case. */
export type Limits<Request = unknown, Name extends string = string> = {
  readonly [Each in Name]: LimitDefinition<Request>;
};
