import { RouteConfig, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { limitsStatus, rateLimit } from '@sluice/fastify';
import type { FastifyRequest } from 'fastify';

const limiter = createLimiter({
  limits: {
    RequestsPerClient: { key: clientNetwork(), count: 100, period: '1m' },
    OrdersPerAccount: { key: accountId(accountOf), count: 10, period: '1h' },
  },
});

/** All routes but a page of what is left. In main.ts: `await limitClients(app)` before `app.listen(3000)`. */
export async function limitClients(app: NestFastifyApplication): Promise<void> {
  await app.register(rateLimit, { limiter, limits: ['RequestsPerClient'] });
  const status = limitsStatus({ limiter, limits: ['RequestsPerClient'] });
  app
    .getHttpAdapter()
    .getInstance()
    .get('/rate_limit', { config: { rateLimit: false } }, status);
}

/** One route, with the body read, instead of the limits of all: `@LimitOrders` above the method of a controller. */
export const LimitOrders: MethodDecorator = RouteConfig({
  rateLimit: { limits: ['RequestsPerClient', 'OrdersPerAccount'], hook: 'preHandler' },
});

function accountOf({ body }: FastifyRequest): string | null {
  const { account } = (body ?? {}) as { account?: unknown };
  return typeof account === 'string' ? account : null;
}
