// The room asking: calls that another process executes, and the connection to it.
import { SluiceError, type Time } from '@sluice/core';
import type { CallQueue } from '@sluice/core/kit';
import type { Socket } from 'node:net';
import { hostMicros } from '../serving/host-clock.ts';
import { decodeAnswer, type HostReading } from '../wire/answer-codec.ts';
import type { Frame } from '../wire/frame.ts';
import { FrameWriter, FULL_FRAME_BYTES, MAX_OPERATION_BYTES } from '../wire/frame-writer.ts';
import { encodeHello, HOLDERS_VERSION, NO_ID, type Hello } from '../wire/hello.ts';
import { MessageReader } from '../wire/message-reader.ts';
import { encodeOperation, tooLargeError } from '../wire/operation-codec.ts';
import type { HostCall } from './host-call.ts';

export interface ServerConnectionParts {
  readonly socket: Socket;
  /** A moment before the connection was made, by the clock of the host. */
  readonly beforeMicros: number;
  readonly time: Time;
  /** The version of the protocol that this process says. */
  readonly version: number;
  /** Called when the server speaks another version, which this process speaks too. The connection then ends. */
  readonly onOtherVersion: (version: number) => void;
  /** Called when the hello of the server has arrived: calls can be sent. */
  readonly onHello: (hello: Hello) => void;
  /** Called when there is room for calls again. */
  readonly onDrain: () => void;
  /**
   * Called when the connection has ended.
   *
   * @param unanswered - The calls that were sent and not answered, in their order.
   * @param cause - Why this process has ended it; undefined if the server did.
   */
  readonly onEnd: (unanswered: readonly HostCall[], cause: unknown) => void;
}

/** A connection to the process that serves. */
export class ServerConnection {
  readonly #socket: Socket;
  readonly #time: Time;
  readonly #writer = new FrameWriter();
  /** The calls of each frame that was sent and not answered. */
  readonly #sent: HostCall[][] = [];
  /** The server and its buckets, once its hello has arrived. */
  #server: Hello | undefined;
  #sharesClock = false;
  #cause: unknown;

  constructor({ socket, beforeMicros, time, version, ...on }: ServerConnectionParts) {
    this.#socket = socket;
    this.#time = time;
    const reader = new MessageReader({
      onHello: (hello) => {
        if (hello.version !== version) {
          on.onOtherVersion(hello.version);
          socket.destroy();
        } else {
          this.#server = hello;
          // In containers with time namespaces, each has another clock. Deadlines are then not sent.
          this.#sharesClock = hello.hostMicros >= beforeMicros && hello.hostMicros <= hostMicros();
          on.onHello(hello);
        }
      },
      onFrame: (frame) => this.#handleAnswers(frame),
    });
    socket.unref();
    socket.on('error', () => {});
    socket.on('drain', () => on.onDrain());
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (cause) {
        this.#cause ??= cause;
        socket.destroy();
      }
    });
    socket.on('close', () => on.onEnd(this.#sent.flat(), this.#cause));
    socket.write(encodeHello({ version, pid: process.pid, hostMicros: hostMicros(), id: NO_ID, turn: 0 }));
  }

  /** Sends calls from the queue, as many as there is room for: none before the hello of the server has arrived. */
  send(queue: CallQueue<HostCall>): void {
    while (this.#server !== undefined && queue.size > 0 && !this.#socket.writableNeedDrain) this.#sendFrame(queue);
  }

  /** Ends the connection when everything was sent. */
  close(): void {
    this.#socket.destroySoon();
  }

  #sendFrame(queue: CallQueue<HostCall>): void {
    const calls: HostCall[] = [];
    const offsetMicros = hostMicros() - this.#time.nowMicros();
    while (this.#writer.bytes < FULL_FRAME_BYTES) {
      const call = queue.take();
      if (call === undefined) break;
      // A server of the version before has none to tell.
      if (call.operation.kind === 'holders' && this.#server!.version < HOLDERS_VERSION) call.answer(noHolders(call));
      else if (this.#write(call, offsetMicros)) calls.push(call);
    }
    if (calls.length === 0) return;
    this.#sent.push(calls);
    this.#socket.write(this.#writer.take());
  }

  /** Returns false if the call is too large. */
  #write(call: HostCall, offsetMicros: number): boolean {
    const mark = this.#writer.mark();
    const before = this.#writer.bytes;
    encodeOperation(this.#writer, call.operation, this.#sharesClock ? call.dueMicros + offsetMicros : 0);
    const bytes = this.#writer.bytes - before;
    call.sentTo = this.#server;
    if (bytes <= MAX_OPERATION_BYTES) return true;
    this.#writer.returnTo(mark);
    call.fail(tooLargeError(bytes, MAX_OPERATION_BYTES));
    return false;
  }

  #handleAnswers(frame: Frame): void {
    const calls = this.#sent[0];
    if (calls === undefined) throw new Error('sent an answer to nothing');
    const answers: ReturnType<typeof decodeAnswer>[] = [];
    for (let i = 0; i < calls.length; i++) answers.push(decodeAnswer(frame, calls[i]!.operation));
    if (!frame.isAtEnd) throw new Error('sent more answers than it was asked for');
    // Only now, because a connection that ends before has not answered them.
    this.#sent.shift();
    for (let i = 0; i < calls.length; i++) settle(calls[i]!, answers[i]);
  }
}

function noHolders({ operation }: HostCall): HostReading {
  const { batch } = operation as Extract<HostCall['operation'], { readonly kind: 'holders' }>;
  return { nowTicks: 0, levelsTicks: [], holders: batch.map(() => []) };
}

function settle(call: HostCall, answer: ReturnType<typeof decodeAnswer>): void {
  if (answer === undefined) call.expire();
  else if (answer instanceof SluiceError) call.fail(answer);
  else call.answer(answer);
}
