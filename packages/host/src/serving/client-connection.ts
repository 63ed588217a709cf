// The room serving: the buckets of a process that serves, and the connections of its clients.
import type { Socket } from 'node:net';
import { encodeError, encodeExpired, encodeReading } from '../wire/answer-codec.ts';
import type { Frame } from '../wire/frame.ts';
import { FrameWriter } from '../wire/frame-writer.ts';
import { encodeHello, OtherVersionError, PROTOCOL_VERSION, type Hello } from '../wire/hello.ts';
import { MessageReader } from '../wire/message-reader.ts';
import { decodeOperation } from '../wire/operation-codec.ts';
import { hostMicros } from './host-clock.ts';
import type { SharedBuckets } from './shared-buckets.ts';

/** A client that does not read its answers is disconnected when so many bytes wait for it. */
const MAX_UNREAD_BYTES = 16_777_216;

/** Answers of all connections are written one after another, so one writer is enough. */
const writer = new FrameWriter();

/**
 * Answers a client: its hello in its version, and each frame of operations by a frame of answers, in order. Answers to frames
 * that arrive together are written together.
 *
 * @param hello - That of this process. Its version is replaced.
 * @param onRejected - Called if the client sent something else than operations. Its connection is closed.
 */
export function serveClient(
  socket: Socket,
  hello: Hello,
  buckets: SharedBuckets,
  onRejected: (cause: unknown) => void,
): void {
  const answers: Buffer[] = [];
  let isGreeted = false;
  const greet = (version: number): void => {
    if (!isGreeted) socket.write(encodeHello({ ...hello, version }));
    isGreeted = true;
  };
  const reader = new MessageReader({
    onHello: ({ version }) => greet(version),
    onFrame: (frame) => answers.push(answersTo(frame, buckets)),
  });
  const writeAnswers = (): void => {
    if (answers.length === 0) return;
    socket.write(answers.length === 1 ? answers[0]! : Buffer.concat(answers));
    answers.length = 0;
    if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
  };
  socket.on('data', (chunk: Buffer) => {
    try {
      reader.push(chunk);
      writeAnswers();
    } catch (cause) {
      // A client of a later version learns ours from the hello, and says the one that both speak.
      if (!(cause instanceof OtherVersionError && cause.isLater)) onRejected(cause);
      greet(PROTOCOL_VERSION);
      writeAnswers();
      // What was written before is still sent.
      socket.destroySoon();
      socket.removeAllListeners('data');
    }
  });
}

function answersTo(frame: Frame, buckets: SharedBuckets): Buffer {
  const nowMicros = hostMicros();
  try {
    while (!frame.isAtEnd) answerOne(buckets, frame, nowMicros);
    return writer.take();
  } finally {
    writer.clear();
  }
}

function answerOne(buckets: SharedBuckets, frame: Frame, nowMicros: number): void {
  const { operation, dueMicros } = decodeOperation(frame);
  if (dueMicros > 0 && nowMicros > dueMicros) return encodeExpired(writer);
  try {
    encodeReading(writer, buckets.run(operation));
  } catch (error) {
    encodeError(writer, error);
  }
}
