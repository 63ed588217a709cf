/**
 * What a limit does while its store can't answer.
 *
 * - `local`: the same limit, decided by this process alone (see `gateways`).
 * - `closed`: no request passes; over HTTP the response is a 503.
 * - `open`: the limit is ignored.
 */
export type FailurePolicy = 'local' | 'closed' | 'open';
