/**
 * What a limit does while its store can't answer.
 *
 * - `local`: the same limit, decided in this process alone (see `gateways`).
 * - `closed`: nothing passes; over HTTP a 503.
 * - `open`: the limit says nothing.
 */
export type FailurePolicy = 'local' | 'closed' | 'open';
