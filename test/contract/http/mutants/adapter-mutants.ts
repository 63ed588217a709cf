import type { Mutant } from '../../../mutants/mutated-run.ts';

/** A mistake of an adapter, and the contracts that must find it. */
export interface AdapterMutant extends Mutant {
  readonly contracts: readonly Contract[];
}

type Contract =
  | 'express4'
  | 'express5'
  | 'koa2'
  | 'koa3'
  | 'fastify5'
  | 'node'
  | 'fetch'
  | 'hono'
  | 'koa2-http2'
  | 'fastify5-http2'
  | 'nest-express'
  | 'nest-fastify';

const NODE = 'packages/core/src/http/node-exchange.ts';
const EXPRESS = 'packages/express/src/index.ts';
const KOA = 'packages/koa/src/exchange.ts';
const KOA_MIDDLEWARE = 'packages/koa/src/index.ts';
const FASTIFY = 'packages/fastify/src/exchange.ts';
const FASTIFY_PLUGIN = 'packages/fastify/src/plugin.ts';
const FASTIFY_STATUS = 'packages/fastify/src/limits-status.ts';
const HTTP = 'packages/node/src/exchange.ts';
const LIMIT_NODE = 'packages/node/src/limit-node.ts';
const NODE_STATUS = 'packages/node/src/limits-status.ts';
const WEB = 'packages/fetch/src/web-exchange.ts';
const WEB_END = 'packages/fetch/src/response-end.ts';
const FETCH_EXCHANGE = 'packages/fetch/src/fetch-exchange.ts';
const FETCH_STATUS = 'packages/fetch/src/limits-status.ts';
const HONO = 'packages/hono/src/exchange.ts';
const HONO_MIDDLEWARE = 'packages/hono/src/index.ts';

const NEST = 'packages/nestjs/src/platform-exchange.ts';
const NEST_ADMISSION = 'packages/nestjs/src/admission.ts';

const ON_NEST = ['nest-express', 'nest-fastify'] as const;
const ON_WEB = ['fetch', 'hono'] as const;

const ON_NODE = ['express4', 'koa2', 'fastify5'] as const;
const ON_HTTP2 = ['koa2-http2', 'fastify5-http2'] as const;

/** Mistakes in the exchange of core, which all adapters for Node use. */
const ofNode: readonly AdapterMutant[] = [
  {
    name: 'the method is unknown',
    in: NODE,
    replace: 'this.method = incoming.method;',
    by: 'this.method = undefined;',
    contracts: ON_NODE,
  },
  {
    name: 'the fields of a request are not read',
    in: NODE,
    replace: "return typeof value === 'string' ? value : undefined;",
    by: 'return undefined;',
    contracts: ON_NODE,
  },
  {
    name: 'a client has no address',
    in: NODE,
    replace: 'return peerOf(this.incoming);',
    by: 'return undefined;',
    contracts: ON_NODE,
  },
  {
    name: 'a client never leaves',
    in: NODE,
    replace: 'return !(isOpen && incoming.httpVersionMajor === 1) && hasLeft(incoming.socket, outgoing);',
    by: 'return false;',
    contracts: [...ON_NODE, ...ON_HTTP2],
  },
  {
    name: 'a response never ends',
    in: NODE,
    replace: 'onceOver(this.incoming.socket, this.outgoing, done);',
    by: 'void done;',
    contracts: [...ON_NODE, ...ON_HTTP2],
  },
  {
    name: 'finished and aborted are swapped',
    in: NODE,
    replace: 'onceOver(this.incoming.socket, this.outgoing, done);',
    by: "onceOver(this.incoming.socket, this.outgoing, (end) => done(end === 'finished' ? 'aborted' : 'finished'));",
    contracts: [...ON_NODE, ...ON_HTTP2],
  },
  {
    name: 'the end of a response is told twice',
    in: NODE,
    replace: 'onceOver(this.incoming.socket, this.outgoing, done);',
    by: 'onceOver(this.incoming.socket, this.outgoing, (end) => (done(end), done(end)));',
    contracts: ON_NODE,
  },
  {
    name: 'a handler never ends',
    in: NODE,
    replace: "provided('onceEnded')(this.outgoing, done);",
    by: 'void done;',
    contracts: ['express4'],
  },
  {
    name: 'a handler ends at once',
    in: NODE,
    replace: "provided('onceEnded')(this.outgoing, done);",
    by: 'done();',
    contracts: ['express4'],
  },
  {
    name: 'the fields of a response are not read',
    in: NODE,
    replace: 'return this.outgoing.getHeader(name);',
    by: 'return undefined;',
    contracts: ['express4', 'koa2'],
  },
  {
    name: 'a field after the head of a response is an error',
    in: NODE,
    replace: 'if (!this.outgoing.headersSent) throw error;',
    by: 'throw error;',
    contracts: ['express4', 'koa2'],
  },
  {
    name: 'a response that has begun is not ended',
    in: NODE,
    replace: '  if (endIfBegun(settings, outgoing)) return;\n',
    by: '',
    contracts: ['express4'],
  },
  {
    name: 'a denial has no status',
    in: NODE,
    replace: '  outgoing.statusCode = status;\n',
    by: '',
    contracts: ['express4'],
  },
  {
    name: 'a denial has no fields',
    in: NODE,
    replace: '  for (const name of Object.keys(fields)) outgoing.setHeader(name, fields[name]!);\n',
    by: '',
    contracts: ['express4'],
  },
];

const ofExpress: readonly AdapterMutant[] = [
  {
    name: 'Express: no decision is stored',
    in: EXPRESS,
    replace: 'this.request.rateLimit = decision;',
    by: '',
    contracts: ['express4'],
  },
  {
    name: 'Express: a second limit does not see the first decision',
    in: EXPRESS,
    replace: 'return this.request.rateLimit;',
    by: 'return undefined;',
    contracts: ['express4'],
  },
  {
    name: 'Express: errors after a promise are lost',
    in: EXPRESS,
    replace: 'attempt(() => end(settled), next)), next);',
    by: 'attempt(() => end(settled), next)), () => undefined);',
    contracts: ['express4'],
  },
  {
    name: 'Express: an error of onDenied is lost',
    in: EXPRESS,
    replace: 'next(errorOf(error)),\n',
    by: 'void error,\n',
    contracts: ['express4'],
  },
  {
    name: 'Express: a client that has left is answered',
    in: EXPRESS,
    replace: "if (settled !== 'left') send(req, res, next, settled);",
    by: 'send(req, res, next, settled as never);',
    contracts: ['express4'],
  },
];

const ofKoa: readonly AdapterMutant[] = [
  {
    name: 'Koa: no decision is stored',
    in: KOA,
    replace: "this.request.state['rateLimit'] = decision;",
    by: '',
    contracts: ['koa2'],
  },
  {
    name: 'Koa: fields are lost in an error',
    in: KOA,
    replace: '    keepFieldOnError(this.request, name);\n',
    by: '',
    contracts: ['koa2'],
  },
  { name: 'Koa: a handler never ends', in: KOA, replace: 'this.#done = done;', by: '', contracts: ['koa2'] },
  { name: 'Koa: no field is set', in: KOA, replace: '    super.setField(name, value);\n', by: '', contracts: ['koa2'] },
  {
    name: 'Koa: a denial has no status',
    in: KOA_MIDDLEWARE,
    replace: '  response.status = denial.status;\n',
    by: '',
    contracts: ['koa2'],
  },
  {
    name: 'Koa: a denial has no fields',
    in: KOA_MIDDLEWARE,
    replace: '  response.set(denial.fields);\n',
    by: '',
    contracts: ['koa2'],
  },
  {
    name: 'Koa: a denial has no body',
    in: KOA_MIDDLEWARE,
    replace: '  response.body = denial.body;\n',
    by: '',
    contracts: ['koa2'],
  },
  {
    name: 'Koa: a client that has left reaches the handler',
    in: KOA_MIDDLEWARE,
    replace: "if (outcome === 'left') return undefined;",
    by: "if (outcome === 'left') return exchange.proceed(next);",
    contracts: ['koa2'],
  },
  {
    name: 'Koa: a response that has begun is not ended',
    in: KOA_MIDDLEWARE,
    replace: '  if (endIfBegun(settings, res)) return;\n',
    by: '',
    contracts: ['koa2'],
  },
];

const ofFastify: readonly AdapterMutant[] = [
  {
    name: 'Fastify: no decision is stored',
    in: FASTIFY,
    replace: 'this.request.rateLimit = decision;',
    by: '',
    contracts: ['fastify5'],
  },
  {
    name: 'Fastify: no field is set',
    in: FASTIFY,
    replace: 'void this.#reply.header(name, value);',
    by: '',
    contracts: ['fastify5'],
  },
  {
    name: 'Fastify: the fields of a reply are not read',
    in: FASTIFY,
    replace: 'return this.#reply.getHeader(name);',
    by: 'return undefined;',
    contracts: ['fastify5'],
  },
  {
    name: 'Fastify: a handler never ends',
    in: FASTIFY,
    replace: 'onceHandled(this.request, (ended) => super.onHandled(ended), done);',
    by: 'void done;',
    contracts: ['fastify5'],
  },
  {
    name: 'Fastify: a reply that was sent is sent again',
    in: FASTIFY,
    replace: 'if (reply.sent || endIfBegun(settings, reply.raw)) return;',
    by: '',
    contracts: ['fastify5'],
  },
  {
    name: 'Fastify: a denial has no status',
    in: FASTIFY,
    replace: 'reply.code(status).headers(fields)',
    by: 'reply.headers(fields)',
    contracts: ['fastify5'],
  },
  {
    name: 'Fastify: a client that has left is answered',
    in: FASTIFY_PLUGIN,
    replace: "      if (settled === 'left') return;\n",
    by: "      if (settled === 'left') return next();\n",
    contracts: ['fastify5'],
  },
  {
    name: 'Fastify: errors after a promise are lost',
    in: FASTIFY_PLUGIN,
    replace: 'outcome.then(proceed, next);',
    by: 'outcome.then(proceed, () => undefined);',
    contracts: ['fastify5'],
  },
];

const ofHttp: readonly AdapterMutant[] = [
  {
    name: 'node: no decision is stored',
    in: HTTP,
    replace: '(this.request as Limited).rateLimit = decision;',
    by: '',
    contracts: ['node'],
  },
  {
    name: 'node: a handler never ends',
    in: HTTP,
    replace: 'if (isThenable(result)) return Promise.resolve(result).finally(end);',
    by: 'if (isThenable(result)) return result;',
    contracts: ['node'],
  },
  {
    name: 'node: the limits of a request that an inner limit refuses never end',
    in: HTTP,
    replace: 'if (callbacks !== undefined) super.onHandled(',
    by: 'if (callbacks === null) super.onHandled(',
    contracts: ['node'],
  },
  {
    name: 'node: a client that has left is answered',
    in: LIMIT_NODE,
    replace: "return outcome === 'left' ? undefined : refuse(outcome, exchange, failed);",
    by: 'return refuse(outcome as never, exchange, failed);',
    contracts: ['node'],
  },
  {
    name: 'node: errors after a promise are lost',
    in: LIMIT_NODE,
    replace: 'outcome.then(carryOut, failed)',
    by: 'outcome.then(carryOut, () => undefined)',
    contracts: ['node'],
  },
  {
    name: 'node: an error while a denial is sent is lost',
    in: LIMIT_NODE,
    replace: '      return fail(error);\n',
    by: '      return undefined;\n',
    contracts: ['node'],
  },
];

/** Mistakes in what all adapters for `Request` and `Response` use. */
const ofWeb: readonly AdapterMutant[] = [
  {
    name: 'web: a client never leaves',
    in: WEB_END,
    replace: 'return this.#request.signal.aborted || (this.#connection?.socket?.destroyed ?? false);',
    by: 'return false;',
    contracts: ON_WEB,
  },
  {
    name: 'web: a response never ends',
    in: WEB,
    replace: 'this.#end.onEnd(done);',
    by: 'void done;',
    contracts: ON_WEB,
  },
  { name: 'web: a handler never ends', in: WEB, replace: 'this.#handled = done;', by: '', contracts: ON_WEB },
  {
    name: 'web: the fields of a request are not read',
    in: WEB,
    replace: 'return this.#request.headers.get(name) ?? undefined;',
    by: 'return undefined;',
    contracts: ON_WEB,
  },
  {
    name: 'web: the method is unknown',
    in: WEB,
    replace: 'return this.#request.method;',
    by: "return 'GET';",
    contracts: ON_WEB,
  },
  {
    name: 'web: a client that leaves amid a response is not noticed',
    in: WEB_END,
    replace: "        cancel: (reason) => {\n          this.end('aborted');",
    by: "        cancel: (reason) => {\n          this.end('finished');",
    contracts: ['fetch'],
  },
  {
    name: 'web: a body that was read has not ended',
    in: WEB_END,
    replace: "          controller.close();\n          this.end('finished');",
    by: '          controller.close();',
    contracts: ON_WEB,
  },
  {
    name: 'fetch: no field is set',
    in: FETCH_EXCHANGE,
    replace: 'this.#state.fields.set(name.toLowerCase(), { name, value });',
    by: '',
    contracts: ['fetch'],
  },
  {
    name: 'fetch: no decision is stored',
    in: FETCH_EXCHANGE,
    replace: 'this.#state.decision = decision;',
    by: '',
    contracts: ['fetch'],
  },
  {
    name: 'Hono: no field is set',
    in: HONO,
    replace: 'this.request.res.headers.set(name, value);',
    by: '',
    contracts: ['hono'],
  },
  {
    name: 'Hono: no decision is stored',
    in: HONO,
    replace: "this.request.set('rateLimit', decision);",
    by: '',
    contracts: ['hono'],
  },
  {
    name: 'Hono: an error leaves the slots',
    in: HONO_MIDDLEWARE,
    replace: "if (isOutermost) end.end('aborted');",
    by: '',
    contracts: ['hono'],
  },
];

const ofNest: readonly AdapterMutant[] = [
  {
    name: 'Nest: no decision is stored',
    in: NEST,
    replace: 'this.#limited.rateLimit = decision;',
    by: '',
    contracts: ON_NEST,
  },
  {
    name: 'Nest: no field is set on Fastify',
    in: NEST,
    replace: 'void this.#reply.header(name, value);',
    by: '',
    contracts: ['nest-fastify'],
  },
  {
    name: 'Nest: the fields so far are not seen on Fastify',
    in: NEST,
    replace: 'return this.#reply.getHeader(name);',
    by: 'return undefined;',
    contracts: ['nest-fastify'],
  },
  {
    name: 'Nest: a denial is sent as a text on Fastify',
    in: NEST,
    replace: 'send(Buffer.from(body))',
    by: 'send(body as never)',
    contracts: ['nest-fastify'],
  },
  {
    name: 'Nest: a denial is sent after the head of a response',
    in: NEST,
    replace: 'if (response.sent || endIfBegun(settings, response.raw)) return;',
    by: '',
    contracts: ['nest-fastify'],
  },
  {
    name: 'Nest: a client that has left is handled',
    in: NEST_ADMISSION,
    replace: "if (outcome === 'left') return new Promise(() => undefined);",
    by: "if (outcome === 'left') return true;",
    contracts: ['nest-express'],
  },
  {
    name: 'Nest: onDenied is not called',
    in: NEST_ADMISSION,
    replace: 'if (admission.onDenied !== undefined) return',
    by: 'if (false) return',
    contracts: ['nest-express'],
  },
];

/** `limitsStatus` of each adapter, without its response. */
const ofStatus: readonly AdapterMutant[] = [
  {
    name: 'Express: limitsStatus sends nothing',
    in: EXPRESS,
    replace: "if (answer !== 'left') sendDenial(settings, res, answer);",
    by: 'void answer;',
    contracts: ['express4'],
  },
  {
    name: 'Koa: limitsStatus sends nothing',
    in: KOA_MIDDLEWARE,
    replace: "if (answer !== 'left') send(settings, ctx, answer);",
    by: 'void answer;',
    contracts: ['koa2'],
  },
  {
    name: 'Fastify: limitsStatus sends nothing',
    in: FASTIFY_STATUS,
    replace: "if (answer !== 'left') sendDenial(settings, reply, answer);",
    by: 'void answer;',
    contracts: ['fastify5'],
  },
  {
    name: 'node: limitsStatus sends nothing',
    in: NODE_STATUS,
    replace: "if (answer !== 'left') sendDenial(settings, exchange.outgoing, answer);",
    by: 'void answer;',
    contracts: ['node'],
  },
  {
    name: 'fetch: limitsStatus has an empty response',
    in: FETCH_STATUS,
    replace: "status === 'left' ? leftResponse() : answerResponse(status, request.method)",
    by: 'leftResponse()',
    contracts: ['fetch'],
  },
  {
    name: 'Hono: limitsStatus has an empty response',
    in: HONO_MIDDLEWARE,
    replace: "status === 'left' ? leftResponse() : answerResponse(status, c.req.method)",
    by: 'leftResponse()',
    contracts: ['hono'],
  },
];

export const adapterMutants: readonly AdapterMutant[] = [
  ...ofNode,
  ...ofExpress,
  ...ofKoa,
  ...ofFastify,
  ...ofHttp,
  ...ofWeb,
  ...ofNest,
  ...ofStatus,
];
