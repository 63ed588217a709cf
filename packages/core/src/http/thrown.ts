import { shown } from '../checks/errors.ts';

/**
 * What a user's function threw, as something that a framework takes for an error. For `undefined` Express and Fastify
 * would go on to the handler, and Koa would never answer; `'route'` means to Express that limits are left out.
 */
export function errorOf(cause: unknown): object {
  if (typeof cause === 'object' && cause !== null) return cause;
  return new Error(
    `A function passed to rateLimit threw ${shown(cause)}, which is not an Error. Throw an Error instead.`,
    { cause },
  );
}
