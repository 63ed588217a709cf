import { complaint } from '../checks/errors.ts';
import type { AddressedRequest } from '../client/client-address.ts';
import { dueIn, type Time } from '../time/time.ts';
import type { Exchange } from './exchange.ts';

/** The header fields of a request. */
type Fields = Pick<AddressedRequest, 'header'>;

/** A deadline that is in the header fields of a request. Created by {@link fromHeaders}. */
export interface HeaderDeadline {
  /** Returns how long the caller waits, in milliseconds; undefined if the fields do not say it. */
  readonly leftMs: (fields: Fields) => number | undefined;
}

/**
 * When the caller of a request gives up. A function of the request returns a number of milliseconds from now, of any size, or a
 * `Date` by the wall clock, or undefined for a caller that waits. Or {@link fromHeaders}.
 */
export type CallerDeadline<Request = unknown> = ((request: Request) => number | Date | undefined) | HeaderDeadline;

const MS_PER_UNIT: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };
/** @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
const GRPC_TIMEOUT = /^(\d{1,8})([HMSmun])$/;
/** Envoy writes a whole number of milliseconds, and none for a route without a timeout. */
const ENVOY_TIMEOUT = /^[1-9]\d{0,9}$/;

/**
 * Returns a deadline for the option `deadline` of a middleware: that of the field `grpc-timeout`, or of
 * `x-envoy-expected-rq-timeout-ms`, whichever is earlier. A value that is not one is ignored, so a client that writes the
 * field itself can only shorten its own wait.
 *
 *     app.use(rateLimit({ limiter, deadline: fromHeaders() }));
 */
export function fromHeaders(): HeaderDeadline {
  return FROM_HEADERS;
}

const FROM_HEADERS: HeaderDeadline = {
  leftMs(fields) {
    const envoy = fields.header('x-envoy-expected-rq-timeout-ms');
    const envoyMs = envoy !== undefined && ENVOY_TIMEOUT.test(envoy) ? Number(envoy) : Infinity;
    const leftMs = Math.min(grpcTimeoutMs(fields.header('grpc-timeout')) ?? Infinity, envoyMs);
    return leftMs === Infinity ? undefined : leftMs;
  },
};

/** Returns the milliseconds of a field `grpc-timeout`; undefined if it is not one. */
export function grpcTimeoutMs(field: string | undefined): number | undefined {
  const [, amount, unit] = GRPC_TIMEOUT.exec(field ?? '') ?? [];
  return amount === undefined ? undefined : Number(amount) * MS_PER_UNIT[unit!]!;
}

const REMEDY = 'For example deadline: (req) => Number(req.headers.timeout ?? 5000), or deadline: fromHeaders().';

/** @throws {SluiceError} `ERR_OPTION`. */
export function checkCallerDeadline(value: unknown): void {
  const given = value as Partial<HeaderDeadline> | null | undefined;
  if (given === undefined || typeof given === 'function' || typeof given?.leftMs === 'function') return;
  throw complaint('ERR_OPTION', { option: 'deadline', demand: 'a function, or fromHeaders()', value, remedy: REMEDY });
}

/**
 * Returns when the caller of a request gives up, on the clock; undefined if it waits.
 *
 * @throws {SluiceError} `ERR_OPTION` if the function returned something else. What the function throws.
 */
export function dueOf<Request>(
  deadline: CallerDeadline<Request>,
  exchange: Pick<Exchange<Request>, 'request' | 'header'>,
  time: Time,
): number | undefined {
  const given: unknown = typeof deadline === 'function' ? deadline(exchange.request) : deadline.leftMs(exchange);
  if (given === undefined) return undefined;
  const leftMs = given instanceof Date ? given.getTime() - time.wallNow() : given;
  if (typeof leftMs === 'number' && !Number.isNaN(leftMs)) return dueIn(leftMs, time);
  const demand = 'a function that returns milliseconds, a Date, or undefined';
  throw complaint('ERR_OPTION', { option: 'deadline', demand, value: given, remedy: REMEDY });
}
