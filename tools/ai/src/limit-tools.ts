import type { Decision, Limiter } from '@sluice/core';
import { checkOptions, complaint, isEveryone, isPlainObject, limitsOf, timeOf } from '@sluice/core/kit';
import { askedId } from './begin-call.ts';
import { noLimits } from './budget-options.ts';
import { fixedCost } from './fixed-cost.ts';
import { INVALID_PARAMS, TASK_METHODS, ToolTasks, type Handler } from './tool-tasks.ts';
import { waitText } from './wait-text.ts';

/** A call of a tool, as far as it is needed to limit it. */
export interface ToolCall {
  /** The name of the tool. */
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** What the SDKs hand to the handler of a request: the second has `authInfo` in `http`. */
export interface ToolContext {
  readonly sessionId?: string | undefined;
  readonly authInfo?: AuthInfo | undefined;
  readonly http?: { readonly authInfo?: AuthInfo | undefined } | undefined;
}

interface AuthInfo {
  readonly clientId: string;
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/** What a call costs at a limit: the same for all tools, or a number for each. Tools without a number are not limited by it. */
export type CostOfTool = number | Readonly<Record<string, number>>;

/** The options of {@link limitTools}. */
export interface LimitToolsOptions<Name extends string = string> {
  readonly limiter: Limiter<never, Name>;
  /** The limits of a call, and what it costs at each. They are decided together. Slots are held until the tool, or the task that it answers with, has ended. */
  readonly limits: Readonly<Partial<Record<Name, CostOfTool>>>;
  /** For whom a tool is called. Limits of `everyone()` need none. */
  readonly id?: string | ((call: ToolCall, context: ToolContext) => string | undefined) | undefined;
}

/** A server of the SDK, or the `McpServer` around one. */
export type ToolServer = Protocol | { readonly server: Protocol };

interface Protocol {
  // Each SDK has other types of handlers.
  setRequestHandler: Function;
}

/** What the SDKs do not declare, and all of their versions have: handlers by method, and the tools of an `McpServer`. */
interface Hidden {
  readonly _requestHandlers?: Handlers;
  readonly _registeredTools?: object;
  /** Handles what no handler is for. */
  fallbackRequestHandler?: Handler<never, never> | undefined;
}

type Handlers = Map<string, Handler<never, never>>;

type ToolHandler = Handler<{ readonly params: ToolCall & { readonly task?: unknown } }, ToolContext>;

const TOOLS_CALL = 'tools/call';
const EXAMPLE = 'limitTools(server, { limiter, limits: { Calls: 1 }, id: (_, { authInfo }) => authInfo?.clientId })';

/**
 * Decides each call of a tool of an MCP server by limits, also each of a batch. A denied call is answered with a tool result
 * that has `isError` and the wait in words, so that the model reads it: the tool is not called, and nothing is taken.
 *
 *     const server = new McpServer({ name: 'search', version: '1.0.0' });
 *     limitTools(server, { limiter, limits: { Calls: 1, Searches: { search: 5 } }, id: ({ name }, { authInfo }) => authInfo?.clientId });
 *     server.registerTool('search', …);
 *
 * Call it before the first tool is registered. In revision 2026-07-28 of the protocol, a call that is sent again with the input
 * that its tool has asked for is decided again.
 *
 * @returns The server.
 * @throws {SluiceError} `ERR_OPTION`, `ERR_UNKNOWN_OPTION`, `ERR_UNKNOWN_LIMIT`, and `ERR_COST_OVER_BURST` for a cost that
 * could never pass.
 */
export function limitTools<Server extends ToolServer, Name extends string>(
  server: Server,
  options: LimitToolsOptions<Name>,
): Server {
  const { protocol, handlers } = protocolOf(server);
  const tools = new LimitedTools(options, handlers);
  const set = handlers.set.bind(handlers);
  // What the SDK calls for a request, once for each: what it does to set a handler differs by version, and by form.
  handlers.set = (method, handler) => set(method, tools.wrapped(method, handler));
  for (const [method, handler] of Array.from(handlers)) handlers.set(method, handler);
  let fallback = protocol.fallbackRequestHandler;
  Object.defineProperty(protocol, 'fallbackRequestHandler', {
    configurable: true,
    get: () => fallback && tools.ofAnyMethod(fallback),
    set(handler: typeof fallback) {
      fallback = handler;
    },
  });
  return server;
}

class LimitedTools {
  readonly #limiter: Limiter;
  readonly #limits: readonly (readonly [name: string, cost: CostOfTool, isEveryone: boolean])[];
  readonly #id: LimitToolsOptions['id'];
  readonly #tasks: ToolTasks;

  constructor(options: LimitToolsOptions, handlers: Handlers) {
    checkOptions('limitTools', options, ['limiter', 'limits', 'id'], {}, EXAMPLE);
    const { limiter, limits, id } = options;
    const known = limitsOf(limiter);
    if (!isPlainObject(limits) || Object.keys(limits).length === 0) throw noLimits('limitTools', limits, EXAMPLE);
    this.#limiter = limiter;
    this.#tasks = new ToolTasks(timeOf(limiter), handlers);
    this.#id = id;
    this.#limits = Object.entries(limits).map(([name, cost]) => {
      // Throws for a limit that does not exist.
      limiter.limit(name);
      checkCosts(limiter, name, cost);
      return [name, cost!, isEveryone(known.get(name)!.key)];
    });
    const isNeeded = id !== undefined || this.#limits.some(([, , isOfAll]) => !isOfAll);
    if (isNeeded && typeof id !== 'string' && typeof id !== 'function') throw noId(id);
  }

  wrapped(method: string, handler: Handler<never, never>): Handler<never, never> {
    if (method === TOOLS_CALL) return this.#limited(handler as ToolHandler);
    return TASK_METHODS.includes(method) ? this.#tasks.observed(method, handler as Handler) : handler;
  }

  ofAnyMethod(handler: Handler<never, never>): Handler<{ readonly method: string }, never> {
    return (request, context) => this.wrapped(request.method, handler)(request as never, context);
  }

  #limited(handler: ToolHandler): ToolHandler {
    return async (request, context) => {
      const { params } = request;
      if (typeof params?.name !== 'string') throw namesNoTool();
      const decision = await this.#decide(params, context);
      if (!decision.allowed) return denied(decision, params.task !== undefined);
      let answer: unknown;
      try {
        return (answer = await handler(request, context));
      } finally {
        await this.#tasks.release(decision, answer, context);
      }
    };
  }

  async #decide(call: ToolCall, context: ToolContext): Promise<Decision> {
    let id: string | undefined;
    const entries = this.#limits.flatMap(([limit, costs, isOfAll]) => {
      const cost = typeof costs === 'number' ? costs : ownCost(costs, call.name);
      return cost === undefined ? [] : [{ limit, id: isOfAll ? 'everyone' : (id ??= this.#idOf(call, context)), cost }];
    });
    return this.#limiter.spend(entries, { hold: true });
  }

  #idOf(call: ToolCall, context: ToolContext): string {
    const given = this.#id;
    const id = typeof given === 'function' ? askedId('limitTools', () => given(call, context)) : given;
    if (id === undefined || id === null) throw noId(id);
    return id;
  }
}

/** The cost of a tool, whatever its name: a client may call one that is named as a property of all objects is. */
function ownCost(costs: Readonly<Record<string, number>>, tool: string): number | undefined {
  return Object.hasOwn(costs, tool) ? costs[tool] : undefined;
}

/** A tool result, which the model reads. A call that asks for a task can only have a task as its result, so it fails. */
function denied(decision: Decision, isTask: boolean): object {
  const text = denialText(decision);
  if (isTask) throw new Error(text);
  return { content: [{ type: 'text', text }], isError: true };
}

function denialText({ limit, outcome, blocked, retryAfterMs }: Decision): string {
  if (outcome === 'unavailable')
    return `The limits can't be checked at the moment. Try again in ${waitText(retryAfterMs)}.`;
  if (blocked || retryAfterMs === Infinity)
    return `The limit "${limit}" does not allow this call. Do not try it again.`;
  return `The limit "${limit}" is reached. Try again in ${waitText(retryAfterMs)}.`;
}

/** The error of JSON-RPC for a request with wrong parameters. */
function namesNoTool(): Error {
  return Object.assign(new Error('Invalid tools/call request: it names no tool.'), { code: INVALID_PARAMS });
}

function protocolOf(server: ToolServer): { readonly protocol: Hidden; readonly handlers: Handlers } {
  const given = (server ?? {}) as { readonly server?: Hidden } & Hidden;
  const { server: protocol = given, _registeredTools: tools } = given;
  const { _requestHandlers: handlers } = protocol;
  if (!(handlers instanceof Map)) throw noServer(server, 'a server of the MCP SDK', `For example ${EXAMPLE}.`);
  const hasTools = tools === undefined ? handlers.has(TOOLS_CALL) : Object.keys(tools).length > 0;
  if (hasTools)
    throw noServer(server, 'a server without tools', 'Call limitTools before the first tool is registered.');
  return { protocol, handlers };
}

function noServer(value: unknown, demand: string, remedy: string): Error {
  return complaint('ERR_OPTION', { option: 'limitTools(server)', demand, value, remedy });
}

function checkCosts(limiter: Limiter, limit: string, given: unknown): void {
  const option = `limitTools.limits.${limit}`;
  if (!isPlainObject(given)) return void fixedCost(limiter, { limit, cost: given, option });
  for (const [tool, cost] of Object.entries(given)) fixedCost(limiter, { limit, cost, option: `${option}.${tool}` });
}

function noId(value: unknown): Error {
  const remedy = `For example ${EXAMPLE}. Without an id, all clients would share a bucket.`;
  return complaint('ERR_ID', {
    option: 'limitTools.id',
    demand: 'a text, or a function that returns one',
    value,
    remedy,
  });
}
