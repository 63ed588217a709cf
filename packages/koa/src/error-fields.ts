import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';

/** The key of the names of the fields to keep, on the context itself. */
const NAMES = Symbol('@sluice/koa');

interface KeepingContext extends Context {
  [NAMES]?: string[];
}

/**
 * Keeps a field on the response if the request ends in an error: Koa's `ctx.onerror` removes all fields, and then sets
 * those in `headers` of the error. The fields are not added to the error, because it may be shared by several requests,
 * or have `headers` of another kind, such as those of a failed `fetch`.
 */
export function keepFieldOnError(ctx: Context, name: string): void {
  const names = (ctx as KeepingContext)[NAMES];
  if (names === undefined) keepFieldsOnError(ctx, ((ctx as KeepingContext)[NAMES] = [name]));
  else if (!names.includes(name)) names.push(name);
}

/** @param names - Names may be added to the array later, so that all middlewares of a request need one wrapper. */
function keepFieldsOnError(ctx: Context, names: readonly string[]): void {
  // oxlint-disable-next-line typescript/unbound-method -- it is called on the context
  const { onerror } = ctx;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is a method of the context
  ctx.onerror = function onerrorWithFields(error) {
    const { res } = ctx;
    // Koa also calls `onerror` without an error, at the end of each response.
    if (error !== null && error !== undefined && !res.headersSent) setWithHead(res, fieldsOf(res, names));
    onerror.call(ctx, error);
  };
}

type Fields = readonly (readonly [name: string, value: number | string | string[]])[];

function fieldsOf(res: ServerResponse, names: readonly string[]): Fields {
  // A field that the handler removed stays removed.
  return names.flatMap((name) => (res.hasHeader(name) ? [[name, res.getHeader(name)!] as const] : []));
}

/** Adds the fields when the head of the response is written, except those that the response has by then. */
function setWithHead(res: ServerResponse, fields: Fields): void {
  const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => ServerResponse;
  res.writeHead = function writeHeadWithFields(...args: unknown[]) {
    for (const [name, value] of fields) {
      if (!res.hasHeader(name)) res.setHeader(name, value);
    }
    return writeHead(...args);
  };
}
