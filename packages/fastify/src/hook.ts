import { oneOf } from '@sluice/core/kit';

/**
 * Where in Fastify's life cycle requests are limited. `onRequest` is the first, before authentication and before the
 * body is read; take a later one for limits whose key needs the user or the body.
 */
export type Hook = 'onRequest' | 'preValidation' | 'preHandler';

/**
 * Gives the name of a hook.
 *
 * @throws {SluiceError} `ERR_OPTION` for anything else.
 */
export function checkedHook(option: string, value: unknown): Hook {
  return oneOf(option, value, ['onRequest', 'preValidation', 'preHandler']);
}
