/** The first word of a reply, such as `OOM` or `ERR`. Errors of node-redis and of sockets begin like a sentence. */
const REPLY = /^-?[A-Z][A-Z0-9]+\b/;

/**
 * Reads an error of node-redis, see `Connection.readError`. It changes the reply of a server, whose class has no name of
 * its own: bundlers shorten the names of classes, and an installation may contain several copies of a class.
 */
export function readError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // The errors of the system have a code, such as `ECONNRESET`. They can't be the reply of a server.
  if (!('code' in error) && REPLY.test(error.message)) error.name = 'ReplyError';
  // The class of node-redis for this has no other mark.
  else if (error.message === 'Disconnects client')
    return new Error('it was lost before the answer came', { cause: error });
  return error;
}
