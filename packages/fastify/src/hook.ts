import { oneOf } from '@sluice/core/kit';

/**
 * The hook of Fastify's lifecycle in which requests are limited. `onRequest` comes first, before authentication and
 * before the body is read. Choose a later one if the key of a limit needs the user or the body.
 */
export type Hook = 'onRequest' | 'preValidation' | 'preHandler';

/**
 * Validates the name of a hook.
 *
 * @throws {SluiceError} `ERR_OPTION` if the value is not one of the three hooks.
 */
export function checkedHook(option: string, value: unknown): Hook {
  return oneOf(option, value, ['onRequest', 'preValidation', 'preHandler']);
}
