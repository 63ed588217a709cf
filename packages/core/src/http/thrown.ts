import { shown } from '../checks/errors.ts';

/**
 * Converts a value that a user's function threw into an object that a framework treats as an error. After a thrown
 * `undefined` Express and Fastify would continue to the handler, and Koa would not respond. Express takes a thrown
 * `'route'` as a request to skip the remaining handlers of the route, which would bypass the limits.
 */
export function errorOf(cause: unknown): object {
  if (typeof cause === 'object' && cause !== null) return cause;
  return new Error(
    `A function passed to rateLimit threw ${shown(cause)}, which is not an Error. Throw an Error instead.`,
    { cause },
  );
}
