import { SluiceError, type LimiterEvent } from '@sluice/core';
import type { Context } from 'koa';

/** Whether a context is that of an upgrade: koa-websocket runs its middlewares on contexts without a response. */
export function isUpgrade({ res }: Context): boolean {
  return (res as Context['res'] | undefined) === undefined;
}

/**
 * Refuses an upgrade: it could not be denied any more, because its handshake has been sent. koa-websocket catches the error that
 * is thrown, so the reason is an event, too.
 *
 * @throws {SluiceError} `ERR_RUNTIME`.
 */
export function refuseUpgrade(ctx: Context, { emit }: { readonly emit: (event: LimiterEvent) => void }): never {
  const message =
    'A WebSocket can not be limited by a middleware of Koa, because its handshake has been sent before. Limit handshakes and open ' +
    'sockets with `limitUpgrade` of @sluice/node, on the server that `app.listen` returns.';
  const cause = new SluiceError('ERR_RUNTIME', message);
  ctx.req.socket.destroy();
  emit({ type: 'upgrade-failed', cause, message: `${message} The socket was destroyed.` });
  throw cause;
}
