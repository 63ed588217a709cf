import { expect, test } from 'vitest';
import { sized } from '../../../test/sized.ts';
import { randomFrom } from '../../../test/service/random.ts';
import { UnaryBody } from '../src/grpc/frames.ts';
import { GrpcError } from '../src/grpc/grpc-error.ts';
import { MalformedMessage } from '../src/protobuf/reader.ts';
import { readRequest } from '../src/rls/request.ts';

const FRAMES = sized(50_000, 100_000);
const WARM_UP = 20_000;
/** Less than 7 bytes for each frame. */
const MOST_GROWTH = 6 * FRAMES;

const { below } = randomFrom(31);

/** A frame of random bytes: a third with a wrong head, the others with a message that is none. */
function malformedFrame(): Buffer {
  const message = Buffer.from(Array.from({ length: below(300) }, () => below(256)));
  const head = Buffer.alloc(5);
  head[0] = below(3) === 0 ? below(256) : 0;
  head.writeUInt32BE(below(3) === 0 ? below(2 ** 32) : message.length, 1);
  return Buffer.concat([head, message]);
}

/** @returns Whether the frame was rejected. */
function isRejected(frame: Buffer): boolean {
  const body = new UnaryBody();
  const half = below(frame.length);
  body.take(frame.subarray(0, half));
  body.take(frame.subarray(half));
  try {
    readRequest(body.message());
    return false;
  } catch (error) {
    if (error instanceof GrpcError || error instanceof MalformedMessage) return true;
    throw error;
  }
}

function rejectedOf(frames: number): number {
  let rejected = 0;
  for (let i = 0; i < frames; i++) if (isRejected(malformedFrame())) rejected++;
  return rejected;
}

test(`${FRAMES} malformed frames leave nothing on the heap`, () => {
  rejectedOf(WARM_UP);
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  const rejected = rejectedOf(FRAMES);
  globalThis.gc!();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(MOST_GROWTH);
  expect(rejected).toBeGreaterThan(FRAMES * 0.99);
});
