import type { Limiter } from '@sluice/core';
import {
  flowSettings,
  NodeRequestExchange,
  runFlow,
  type Denial,
  type ExchangeEnd,
  type FlowOptions,
  type FlowOutcome,
  type LimitUse,
  type RequestDecision,
} from '@sluice/core/http';
import { checkOptions, complaint, reasonOf } from '@sluice/core/kit';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { statusOf } from './error-status.ts';

/** Handles an upgrade, like a listener of `server.on('upgrade', …)`. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** One limit of an upgrade. Without a response there is no `settle`. */
type UpgradeUse<Name extends string> = Omit<
  LimitUse<IncomingMessage, readonly unknown[], Name>,
  'settle' | 'settleAborted'
>;

/** The options of {@link limitUpgrade}. */
export interface UpgradeOptions<Name extends string = string> extends Omit<
  FlowOptions<IncomingMessage>,
  'limitPreflight'
> {
  /** Names of limits, or limits with a cost. Required if the limiter has more than one limit. */
  readonly limits?: readonly (Name | UpgradeUse<Name>)[] | undefined;
  /** Handles an allowed upgrade: `(request, socket, head) => wss.handleUpgrade(request, socket, head, …)`. */
  readonly accept: UpgradeListener;
}

/**
 * Limits upgrades, such as WebSocket handshakes, on a `node:http` server. Express and Koa run no middleware on them.
 *
 *     server.on('upgrade', limitUpgrade(limiter, { limits: ['RequestsPerIPAddress'], accept }));
 *
 * A denied upgrade is answered with 429 and Retry-After (403 for a blocked id, 503 when the service has no room or a
 * `closed` limit's store can't answer), and its socket is closed. If a key, cost or skip function throws and no other
 * limit denies the upgrade, it is answered with 400 or 431 (if that is the error's status) or 500 and closed, with an event
 * `upgrade-failed`. If `accept` throws, the socket is destroyed, with the same event.
 *
 * @throws {SluiceError} For wrong options, see docs/errors.md.
 */
export function limitUpgrade<Name extends string = string>(
  limiter: Limiter<IncomingMessage, Name>,
  options: UpgradeOptions<NoInfer<Name>>,
): UpgradeListener {
  const accept = checkedAccept(options);
  // An upgrade is never a preflight request, whatever its method and fields are.
  const { accept: _accept, ...flowOptions } = options;
  const settings = flowSettings<IncomingMessage, readonly []>(
    { ...flowOptions, limiter, limitPreflight: true },
    [],
    'limitUpgrade',
  );
  const { emit } = settings.limiter;
  const reportFailure: FailureReporter = (cause, end) => {
    emit({ type: 'upgrade-failed', cause, message: `An upgrade failed (${reasonOf(cause)}). ${end}` });
  };
  const handOver = handingOver(accept, reportFailure);

  return function limitedUpgrade(request, socket, head) {
    // An `error` event without a listener would end the process. It stays: nobody else listens while the store is called, and
    // `accept` may wait before it does.
    socket.on('error', destroySocket);
    const exchange = new UpgradeExchange(request, socket);
    const proceed = (outcome: FlowOutcome): void => {
      if (socket.destroyed) return;
      if (outcome === null) void handOver(request, socket, head);
      else if (outcome === 'left') socket.destroy();
      else answer(socket, { ...outcome, fields: { ...exchange.fields, ...outcome.fields } });
    };
    // A promise in any case: the delay of a tick does not matter for a handshake.
    new Promise<FlowOutcome>((resolve) => resolve(runFlow(settings, exchange, []))).then(proceed, (cause: unknown) => {
      reportFailure(cause, 'It was rejected.');
      answer(socket, { status: statusOf(cause), fields: exchange.fields, body: '' });
    });
  };
}

type FailureReporter = (cause: unknown, end: string) => void;

/** Returns a function that calls `accept`, and destroys the socket when it throws. It never rejects. */
function handingOver(accept: UpgradeListener, reportFailure: FailureReporter) {
  return async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    try {
      await accept(request, socket, head);
    } catch (cause) {
      // `accept` may already have answered, so nothing more can be sent on this socket.
      socket.destroy();
      reportFailure(cause, 'The accept function threw, so the socket was destroyed.');
    }
  };
}

const OPTIONS = [
  'limits',
  'accept',
  'skip',
  'shadow',
  'fields',
  'retryJitter',
  'deadline',
  'maxQueued',
  'onDecision',
] as const;

function checkedAccept(options: UpgradeOptions): UpgradeListener {
  checkOptions('limitUpgrade', options, OPTIONS, {
    settle: '`settle` is not available here: an upgrade has no response.',
    slotsUntil: '`slotsUntil` is not available here: an upgrade has its slots until its socket is closed.',
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

class UpgradeExchange extends NodeRequestExchange<IncomingMessage> {
  readonly fields: Record<string, string> = {};
  decision: RequestDecision | undefined;

  readonly #socket: Duplex;

  constructor(request: IncomingMessage, socket: Duplex) {
    super(request, request, undefined);
    this.#socket = socket;
  }

  /** An upgrade has no response. What ends is its connection. */
  onEnd(done: (end: ExchangeEnd) => void): void {
    if (this.#socket.destroyed) done('never-begun');
    else this.#socket.once('close', () => done('aborted'));
  }

  getField(name: string): string | undefined {
    return Object.entries(this.fields).find(([field]) => field.toLowerCase() === name)?.[1];
  }

  setField(name: string, value: string): void {
    this.fields[name] = value;
  }
}

function destroySocket(this: Duplex): void {
  this.destroy();
}

function answer(socket: Duplex, { status, fields, body }: Pick<Denial, 'fields' | 'body'> & { status: number }): void {
  const lines = Object.entries({ ...fields, 'Content-Length': String(Buffer.byteLength(body)), Connection: 'close' });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  // Node leaves the sockets of upgrades half open: a client that never closes its end would keep them open.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
