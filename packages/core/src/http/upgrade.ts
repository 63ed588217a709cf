import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { coreOf } from '../create-limiter.ts';
import { complaint } from '../errors.ts';
import type { Limiter } from '../limiter.ts';
import { isPlainObject } from '../options.ts';
import type { Exchange } from './exchange.ts';
import { runFlow } from './flow.ts';
import { flowSettings, type FlowOptions, type LimitUse } from './middleware-options.ts';
import type { Refusal } from './refusal.ts';
import type { RequestDecision } from './request-decision.ts';
import { reasonOf } from './thrown.ts';

/** Takes over an upgrade, as a listener of `server.on('upgrade', …)` does. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** The options of {@link limitUpgrade}. */
export interface UpgradeOptions extends FlowOptions<IncomingMessage> {
  /** Names, or names with costs. Needed when the limiter has more than one limit. */
  readonly limits?: readonly (string | Omit<LimitUse<IncomingMessage>, 'settle'>)[] | undefined;
  /** Takes over what is allowed: `(request, socket, head) => wss.handleUpgrade(request, socket, head, …)`. */
  readonly accept: UpgradeListener;
}

/**
 * Limits upgrades, such as WebSocket handshakes, on a `node:http` server: Express and Koa run no middleware on them.
 *
 *     server.on('upgrade', limitUpgrade(limiter, { limits: ['RequestsPerIPAddress'], accept }));
 *
 * A denied one is answered with a raw 429 with Retry-After and closed. One whose key, cost or skip function throws is
 * answered with the error's status (500 if it has none) and closed, with an `upgrade-failed` event.
 *
 * @throws {SluiceError} for wrong options.
 */
export function limitUpgrade(limiter: Limiter<IncomingMessage>, options: UpgradeOptions): UpgradeListener {
  if (!isPlainObject(options))
    throw complaint('ERR_OPTION', { option: 'limitUpgrade', demand: 'given options', value: options });
  const settings = flowSettings<IncomingMessage, readonly []>({ ...options, limiter }, ['accept']);
  const { accept } = options;
  if (settings.uses.some(({ settle }) => settle !== undefined)) {
    const remedy = 'An upgrade has no response to wait for.';
    throw complaint('ERR_OPTION', { option: 'settle', demand: 'left out here', value: 'a function', remedy });
  }
  if (typeof accept !== 'function') {
    const remedy = 'For example accept: (request, socket, head) => wss.handleUpgrade(request, socket, head, onOpen).';
    throw complaint('ERR_OPTION', { option: 'accept', demand: 'a function', value: accept, remedy });
  }
  const { notify } = coreOf(limiter);
  const fail = (socket: Duplex, cause: unknown): void => {
    socket.on('error', destroySocket);
    const message = `Sluice: an upgrade failed: ${reasonOf(cause)}. It was refused.`;
    notify({ type: 'upgrade-failed', cause, message });
    answer(socket, { status: statusOf(cause), fields: {}, body: '' });
  };

  return function limitedUpgrade(request, socket, head) {
    // Nobody else listens while the store is asked, and an unheard error would end the process.
    socket.on('error', destroySocket);
    const exchange = new UpgradeExchange(request);
    const proceed = async (refusal: Refusal | null): Promise<void> => {
      if (socket.destroyed) return;
      if (refusal !== null) return answer(socket, { ...refusal, fields: { ...exchange.fields, ...refusal.fields } });
      socket.off('error', destroySocket);
      await accept(request, socket, head);
    };
    // One path for both kinds of answer: a handshake can wait for a tick.
    new Promise<Refusal | null>((resolve) => resolve(runFlow(settings, exchange, [])))
      .then(proceed)
      .catch((cause: unknown) => fail(socket, cause));
  };
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
  return (cause as { status?: unknown } | null)?.status === 400 ? 400 : 500;
}
