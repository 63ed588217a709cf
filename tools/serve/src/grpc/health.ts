import { ProtoReader, WIRE } from '../protobuf/reader.ts';
import { ProtoWriter } from '../protobuf/writer.ts';
import { FRAME_HEAD, framed } from './frames.ts';
import { GrpcError, STATUS } from './grpc-error.ts';
import type { UnaryMethod } from './grpc-handler.ts';

/** The path of the method. */
export const HEALTH_CHECK = '/grpc.health.v1.Health/Check';

const SERVING = 1;
const NOT_SERVING = 2;

/**
 * Returns the method `grpc.health.v1.Health/Check`.
 *
 * @param services - The names that are known beside '', the whole server.
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 */
export function healthCheck(services: readonly string[], isDraining: () => boolean): UnaryMethod {
  return (body) => {
    const service = serviceOf(body.message());
    if (service !== '' && !services.includes(service))
      throw new GrpcError(STATUS.notFound, 'There is no such service.');
    const writer = new ProtoWriter(FRAME_HEAD);
    writer.uint(1, isDraining() ? NOT_SERVING : SERVING);
    return framed(writer.finish());
  };
}

function serviceOf(message: Buffer): string {
  const reader = new ProtoReader(message, FRAME_HEAD);
  let service = '';
  while (reader.next()) {
    if (reader.is(1, WIRE.bytes)) service = reader.text();
    else reader.skip();
  }
  return service;
}
