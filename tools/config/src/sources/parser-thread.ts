import type { Time } from '@sluice/core';
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import type { Problems } from '../nodes/problems.ts';
import { messageOf } from '@sluice/core/kit';
import type { Alarm } from '@sluice/core/store';
import { BEGINNING } from '../nodes/position.ts';
import type { ParseJob, ParseMessage, SourcePart, Rows } from './parse.ts';
import { PARSER_PROGRAM } from './parser-program.ts';

/** The bounds of a parsing thread. They must be several times what a text of the default maximum size needs. */
export interface ThreadBounds {
  readonly memoryMb: number;
  readonly timeMs: number;
  /** By which `timeMs` is measured. */
  readonly time: Time;
  /** Whether the process may exit while the thread is running. */
  readonly background: boolean;
  /** Terminates the thread. */
  readonly signal?: AbortSignal;
}

/**
 * Parses a text in a worker thread, so that neither a large file nor a hostile one blocks the event loop. Yields the
 * rows as they arrive, and returns the hash of the text. {@link PARSER_PROGRAM} must not be `undefined`.
 */
export function rowsByThread<P extends SourcePart>(
  job: ParseJob<P>,
  problems: Problems,
  bounds: ThreadBounds,
): AsyncGenerator<Rows[P], string> {
  // The thread starts here, not at the first row, so that the second text is parsed while the first is validated.
  return rowsOf<P>(new ParserThread(job, bounds), problems);
}

async function* rowsOf<P extends SourcePart>(
  thread: ParserThread,
  problems: Problems,
): AsyncGenerator<Rows[P], string> {
  try {
    for (;;) {
      const message = await thread.next();
      if (typeof message === 'string') {
        problems.addUnreadable(BEGINNING, message);
        return '';
      }
      if ('end' in message) {
        problems.addAll(message.end);
        return message.end.hash;
      }
      yield* message.rows as readonly Rows[P][];
    }
  } finally {
    thread.end();
  }
}

class ParserThread {
  readonly #port: MessagePort;
  readonly #worker: Worker;
  readonly #alarm: Alarm;
  /** Why the thread has failed. */
  #failure: string | undefined;
  #wake: () => void = () => {};

  constructor({ part, bytes }: ParseJob, { memoryMb, timeMs, time, background, signal }: ThreadBounds) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = new Worker(PARSER_PROGRAM!, {
      name: 'sluice-config',
      workerData: { part, bytes, port: port2 },
      transferList: [port2, ...wholeBuffer(bytes)],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 },
      execArgv: [],
      env: {},
    });
    this.#worker.on('message', () => this.#wake());
    this.#worker.on('error', (error) => this.#fail(reasonOf(error, memoryMb)));
    this.#alarm = time.alarm(timeMs, () =>
      this.#fail(`The text took longer than ${timeMs} ms to read. Make it smaller or simpler.`),
    );
    if (background) this.#worker.unref();
    this.#alarm.unref();
    signal?.addEventListener('abort', () => this.end(), { once: true });
  }

  /** Returns the next message, or the reason why the thread has failed. */
  async next(): Promise<ParseMessage | string> {
    for (;;) {
      const received = receiveMessageOnPort(this.#port);
      if (received !== undefined) return received.message as ParseMessage;
      if (this.#failure !== undefined) return this.#failure;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  end(): void {
    this.#alarm.cancel();
    this.#port.close();
    void this.#worker.terminate();
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    this.#wake();
  }
}

/** The buffer of the bytes, if it contains nothing else. It can then be transferred instead of copied. */
function wholeBuffer({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}

function reasonOf(error: Error & { code?: string }, memoryMb: number): string {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return `The text needs more than ${memoryMb} MB of memory to be read. Make it smaller or simpler.`;
  }
  return `The text could not be read: ${messageOf(error)}.`;
}
