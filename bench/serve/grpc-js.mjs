import { loadPackageDefinition, Server, ServerCredentials } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PROTO = fileURLToPath(new URL('../../test/service/proto/rls.proto', import.meta.url));
const NAME = 'envoy.service.ratelimit.v3.RateLimitService';
const ANSWER = { overall_code: 'OK', statuses: [{ code: 'OK' }] };

/**
 * grpc-js with a handler that decides nothing.
 *
 * @returns {Promise<number>} its port
 */
export async function grpcJs() {
  const loaded = /** @type {any} */ (loadPackageDefinition(loadSync(PROTO, { keepCase: true })));
  const { service } = NAME.split('.').reduce((scope, part) => scope[part], loaded);
  const server = new Server();
  server.addService(service, {
    /** @type {import('@grpc/grpc-js').handleUnaryCall<unknown, unknown>} */
    ShouldRateLimit: (_call, answer) => answer(null, ANSWER),
  });
  return promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure());
}
