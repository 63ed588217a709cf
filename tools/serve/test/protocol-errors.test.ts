import { connect } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { PROTOCOL_ERRORS, REPORTED_ERRORS } from '../../../test/contract/http/protocol-errors.ts';
import { END_HEADERS, fieldBlock, frame, TYPE } from '../../../test/contract/http/http2-frames.ts';
import { speakHttp2 } from '../../../test/contract/http/raw-http2.ts';
import { served } from '../../../test/service/served.ts';
import { expectWithin } from '../../../test/expect-within.ts';

const LIMITS = 'PerClient: { count: 1, period: 1s, idFormat: clientNetwork }';
const TABLES = 'envoy: { ingress: { rules: [{ descriptor: [remote_address], limit: PerClient }] } }';
const CALL = fieldBlock('/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit', [
  ['content-type', 'application/grpc'],
]);

test('no connection is left on the port for Envoy, whichever error its client makes before or amid a call', async () => {
  const { servers } = await served(LIMITS, TABLES);
  const connections = promisify(servers.grpc!.getConnections.bind(servers.grpc!));
  const errors = Object.values({ ...PROTOCOL_ERRORS, ...REPORTED_ERRORS });
  for (const error of errors) {
    for (const isAmid of [true, false]) {
      const socket = connect(servers.ports.grpc!, '127.0.0.1').on('error', () => undefined);
      onTestFinished(() => void socket.destroy());
      const client = speakHttp2(socket);
      if (isAmid) socket.write(frame(TYPE.headers, END_HEADERS, 1, CALL));
      socket.write(error);
      // An error of one stream leaves the connection open.
      void client.arrived(({ type }) => type === TYPE.reset).then(() => socket.destroy());
      if (!isAmid) void client.arrived(({ type }) => type === TYPE.goaway).then(() => socket.destroy());
    }
  }
  await expect.poll(connections).toBeGreaterThan(0);
  await expectWithin(5000, connections, 0);
});
