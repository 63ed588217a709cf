/**
 * What adapters of frameworks on `Request` and `Response` share, such as `@sluice/hono`. It may change in any version;
 * users need none of it.
 *
 * @module
 */
export { checkAddress, PeerAddress } from './address.ts';
export { answerResponse, leftResponse } from './answer-response.ts';
export { ResponseEnd } from './response-end.ts';
export { checkShared } from './short-lived.ts';
export { listenForErrors } from './upgraded-connection.ts';
export { WebExchange } from './web-exchange.ts';
