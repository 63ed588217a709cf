import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';

/**
 * Keeps fields on the response if the request ends in an error: Koa's `ctx.onerror` removes all fields, and then sets
 * those in `headers` of the error. The fields are not added to the error, because it may be frozen, shared by several
 * requests, or have `headers` of another kind, such as those of a failed `fetch`.
 *
 * @param names - The names of the fields. Names may be added to the array later.
 */
export function keepFieldsOnError(ctx: Context, names: readonly string[]): void {
  const { res } = ctx;
  const onerror = ctx.onerror.bind(ctx);
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is a method of the context
  ctx.onerror = function onerrorWithFields(error) {
    // Koa also calls `onerror` without an error, at the end of each response.
    if (error !== null && error !== undefined && !res.headersSent) setWithHead(res, fieldsOf(res, names));
    onerror(error);
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
