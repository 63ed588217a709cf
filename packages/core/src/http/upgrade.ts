import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { coreOf } from '../limiter/create-limiter.ts';
import { complaint, reasonOf } from '../checks/errors.ts';
import type { Limiter } from '../limiter/limiter.ts';
import { checkOptions } from '../checks/options.ts';
import type { Exchange } from './exchange.ts';
import { runFlow, type FlowOutcome } from './flow.ts';
import { flowSettings, type FlowOptions, type LimitUse } from './middleware-options.ts';
import type { Refusal } from './denial.ts';
import type { RequestDecision } from './request-decision.ts';

/** Takes over an upgrade, as a listener of `server.on('upgrade', …)` does. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** One limit of an upgrade: there is no response whose end could settle a cost. */
type UpgradeUse<Name extends string> = Omit<
  LimitUse<IncomingMessage, readonly unknown[], Name>,
  'settle' | 'settleAborted'
>;

/** The options of {@link limitUpgrade}. */
export interface UpgradeOptions<Name extends string = string> extends Omit<
  FlowOptions<IncomingMessage>,
  'limitPreflight'
> {
  /** Names, or names with costs. Needed when the limiter has more than one limit. */
  readonly limits?: readonly (Name | UpgradeUse<Name>)[] | undefined;
  /** Takes over what is allowed: `(request, socket, head) => wss.handleUpgrade(request, socket, head, …)`. */
  readonly accept: UpgradeListener;
}

/**
 * Limits upgrades, such as WebSocket handshakes, on a `node:http` server: Express and Koa run no middleware on them.
 *
 *     server.on('upgrade', limitUpgrade(limiter, { limits: ['RequestsPerIPAddress'], accept }));
 *
 * A denied one is answered with a raw 429 with Retry-After and closed. One whose key, cost or skip function throws is
 * answered with the error's status (500 if it has none) and closed, with an `upgrade-failed` event, unless the other
 * limits deny it. When `accept` throws, the socket is destroyed, with the same event.
 *
 * @throws {SluiceError} for wrong options.
 */
export function limitUpgrade<Name extends string = string>(
  limiter: Limiter<IncomingMessage, Name>,
  options: UpgradeOptions<NoInfer<Name>>,
): UpgradeListener {
  const accept = checkedAccept(options);
  // An upgrade is no preflight, whatever its method and fields say.
  const { accept: _accept, ...flowOptions } = options;
  const settings = flowSettings<IncomingMessage, readonly []>({ ...flowOptions, limiter, limitPreflight: true }, []);
  const { notify } = coreOf(limiter);
  const fail = (cause: unknown, end: string): void => {
    notify({ type: 'upgrade-failed', cause, message: `An upgrade failed (${reasonOf(cause)}). ${end}` });
  };
  const handOver = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    socket.off('error', destroySocket);
    try {
      await accept(request, socket, head);
    } catch (cause) {
      // It may have answered already: nobody can say anything more on this socket.
      socket.on('error', destroySocket).destroy();
      fail(cause, 'The accept function threw, so the socket was destroyed.');
    }
  };

  return function limitedUpgrade(request, socket, head) {
    // Nobody else listens while the store is asked, and an unheard error would end the process.
    socket.on('error', destroySocket);
    const exchange = new UpgradeExchange(request);
    const proceed = (outcome: FlowOutcome): void => {
      if (socket.destroyed) return;
      if (outcome === null) void handOver(request, socket, head);
      else if (outcome === 'left') socket.destroy();
      else answer(socket, { ...outcome, fields: { ...exchange.fields, ...outcome.fields } });
    };
    // One path for both kinds of answer: a handshake can wait for a tick.
    new Promise<FlowOutcome>((resolve) => resolve(runFlow(settings, exchange, []))).then(proceed, (cause: unknown) => {
      fail(cause, 'It was rejected.');
      answer(socket, { status: statusOf(cause), fields: exchange.fields, body: '' });
    });
  };
}

const OPTIONS = ['limits', 'accept', 'skip', 'shadow', 'fields', 'retryJitter', 'onDecision'] as const;

function checkedAccept(options: UpgradeOptions): UpgradeListener {
  checkOptions('limitUpgrade', options, OPTIONS, {
    settle: '`settle` is not available here: an upgrade has no response.',
  });
  const { accept, limits } = options;
  if (
    Array.isArray(limits) &&
    limits.some((use: Partial<LimitUse> | null) => (use?.settle ?? use?.settleAborted) !== undefined)
  ) {
    const remedy = 'An upgrade has no response. To charge later, use limiter.charge([{ limit, id, cost }]).';
    throw complaint('ERR_OPTION', { option: 'settle', demand: 'left out here', value: 'a function', remedy });
  }
  if (typeof accept === 'function') return accept;
  const remedy = 'For example accept: (request, socket, head) => wss.handleUpgrade(request, socket, head, onOpen).';
  throw complaint('ERR_OPTION', { option: 'accept', demand: 'a function', value: accept, remedy });
}

class UpgradeExchange implements Exchange<IncomingMessage> {
  readonly request: IncomingMessage;
  readonly fields: Record<string, string> = {};
  decision: RequestDecision | undefined;

  constructor(request: IncomingMessage) {
    this.request = request;
  }

  get incoming(): IncomingMessage {
    return this.request;
  }

  getField(name: string): string | undefined {
    return this.fields[name];
  }

  setField(name: string, value: string): void {
    this.fields[name] = value;
  }
}

function destroySocket(this: Duplex): void {
  this.destroy();
}

function answer(socket: Duplex, { status, fields, body }: Pick<Refusal, 'fields' | 'body'> & { status: number }): void {
  const lines = Object.entries({ ...fields, 'Content-Length': String(Buffer.byteLength(body)), Connection: 'close' });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  // Node leaves sockets of upgrades half open: a client that never closes its end would keep them.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function statusOf(cause: unknown): 400 | 500 {
  try {
    return (cause as { status?: unknown } | null)?.status === 400 ? 400 : 500;
  } catch {
    // A getter or a Proxy throws.
    return 500;
  }
}
