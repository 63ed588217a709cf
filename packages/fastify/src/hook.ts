import { SluiceError } from '@sluice/core';

/**
 * Where in Fastify's life cycle requests are limited. `onRequest` is the first, before authentication and before the
 * body is read; take a later one for limits whose key needs the user or the body.
 */
export type Hook = 'onRequest' | 'preValidation' | 'preHandler';

const HOOKS: readonly string[] = ['onRequest', 'preValidation', 'preHandler'];

/**
 * Gives the name of a hook.
 *
 * @throws {SluiceError} `ERR_OPTION` for anything else.
 */
export function checkedHook(option: string, value: unknown): Hook {
  if (HOOKS.includes(value as string)) return value as Hook;
  throw new SluiceError('ERR_OPTION', `\`${option}\` must be one of ${HOOKS.join(', ')}, but was ${String(value)}.`);
}
