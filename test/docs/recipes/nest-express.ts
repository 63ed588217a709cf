import { RequestMethod, type INestApplication, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { limitsStatus, rateLimit } from '@sluice/express';
import type { Request } from 'express';

const limiter = createLimiter({
  limits: {
    RequestsPerClient: { key: clientNetwork(), count: 100, period: '1m' },
    OrdersPerAccount: { key: accountId(accountOf), count: 10, period: '1h' },
  },
});

/** What is not a string is not an account: such a body must not become an error of the key. */
function accountOf({ body }: Request): string | null {
  return typeof body?.account === 'string' ? body.account : null;
}

/** All routes but a page of what is left. In main.ts: `limitClients(app)` before `app.listen(3000)`. */
export function limitClients(app: INestApplication): void {
  app.use('/rate_limit', limitsStatus({ limiter, limits: ['RequestsPerClient'] }));
  app.use(rateLimit({ limiter, limits: ['RequestsPerClient'] }));
}

/** Some routes, with the body read: `@Module({ controllers: [OrdersController] })` above it. */
export class OrdersModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    const limitOrders = rateLimit({ limiter, limits: ['OrdersPerAccount'] });
    consumer.apply(limitOrders).forRoutes({ path: 'orders', method: RequestMethod.POST });
  }
}
