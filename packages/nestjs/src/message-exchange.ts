import type { ExecutionContext } from '@nestjs/common';
import { IpAddress } from '@sluice/core';
import { mayLackFields, peerOf, type Exchange, type RequestDecision } from '@sluice/core/http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** What is known of the sender of a message. */
export interface Sender {
  readonly peer: Exchange<ExecutionContext>['peer'];
  readonly headers: IncomingHttpHeaders | undefined;
  /** Whether the server may have dropped fields of the request. */
  readonly lacksFields: boolean;
}

/** Returns the sender at an address, which is a text as that of a socket, or `'unix'`. */
export function senderAt(address: string | null | undefined, headers: IncomingHttpHeaders | undefined): Sender {
  const peer = address === 'unix' ? address : typeof address === 'string' ? IpAddress.parse(address) : undefined;
  return { peer, headers, lacksFields: false };
}

/** Returns the sender of a request of Node, Express or Fastify. */
export function senderOf(request: object): Sender {
  const incoming = ('raw' in request ? request.raw : request) as IncomingMessage;
  return { peer: peerOf(incoming), headers: incoming.headers, lacksFields: mayLackFields(incoming) };
}

/**
 * Adapts a message to the flow of core. A message has no response: there are no header fields, and `settle` functions and
 * concurrency limits are errors, because no end of a response would release them.
 */
export class MessageExchange implements Exchange<ExecutionContext> {
  readonly request: ExecutionContext;
  readonly method = undefined;
  decision: RequestDecision | undefined;
  readonly #sender: Sender;

  constructor(context: ExecutionContext, sender: Sender) {
    this.request = context;
    this.#sender = sender;
  }

  get peer(): Sender['peer'] {
    return this.#sender.peer;
  }

  get lacksFields(): boolean {
    return this.#sender.lacksFields;
  }

  header(name: string): string | undefined {
    const value = this.#sender.headers?.[name];
    return typeof value === 'string' ? value : undefined;
  }

  getField(): undefined {
    return undefined;
  }

  setField(): void {}
}
