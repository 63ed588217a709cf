import {
  Controller,
  Get,
  Module,
  type ArgumentsHost,
  type ExecutionContext,
  type HttpException,
  type INestApplication,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import {
  SkipThrottle,
  Throttle,
  ThrottlerException,
  ThrottlerGuard,
  ThrottlerModule,
  type ThrottlerModuleOptions,
} from '@nestjs/throttler';
import { accountId } from '@sluice/core';
import { Limits, RateLimitException, RateLimitGuard, RateLimitModule, Unlimited } from '@sluice/nestjs';
import type { Response } from 'express';
import type { IncomingMessage, RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';
import { answers, denial, header, over, pair, times, type Ask, type Pair, type Rows, type Send } from './pairs.ts';

const accountOf = (context: ExecutionContext): string =>
  String(context.switchToHttp().getRequest<IncomingMessage>().headers['x-account'] ?? '');

// oxlint-disable-next-line no-extraneous-class -- what decorators are given
const emptyClass = (): Type => class {};

/** A controller whose handlers are decorated. */
function controllerOf(decorators: Readonly<Record<string, MethodDecorator>>): Type {
  const Decorated = emptyClass();
  Controller()(Decorated);
  for (const [path, decorator] of Object.entries<MethodDecorator | undefined>({ '/': undefined, ...decorators })) {
    const descriptor = { value: () => 'ok', configurable: true };
    Object.defineProperty(Decorated.prototype as object, path, descriptor);
    Get(path)(Decorated.prototype as object, path, descriptor);
    decorator?.(Decorated.prototype as object, path, descriptor);
  }
  return Decorated;
}

async function app(imported: object, guard: object, controller: Type): Promise<INestApplication> {
  const AppModule = emptyClass();
  Module({
    imports: [imported as Type],
    controllers: [controller],
    providers: [{ provide: APP_GUARD, ...guard } as Provider],
  })(AppModule);
  const served = await NestFactory.create(AppModule, new ExpressAdapter(), { logger: false });
  onTestFinished(() => served.close());
  return served;
}

async function sendTo(made: Promise<INestApplication>): Promise<Send> {
  const served = await made;
  await served.init();
  return over(served.getHttpServer() as RequestListener);
}

/** An application with a filter of its own for an exception. */
async function catching(made: Promise<INestApplication>, exception: Function): Promise<Send> {
  const served = await made;
  served.useGlobalFilters({
    catch(error: HttpException, host: ArgumentsHost) {
      const text = error instanceof exception ? 'calm down' : String(error);
      host.switchToHttp().getResponse<Response>().status(error.getStatus()).send(text);
    },
  });
  return sendTo(Promise.resolve(served));
}

const there = (options: ThrottlerModuleOptions, decorators: Readonly<Record<string, MethodDecorator>> = {}) =>
  app(ThrottlerModule.forRoot(options), { useClass: ThrottlerGuard }, controllerOf(decorators));
const here = (options: object, decorators: Readonly<Record<string, MethodDecorator>> = {}) =>
  app(RateLimitModule.forRoot(options as never), { useExisting: RateLimitGuard }, controllerOf(decorators));

const TWO = [{ ttl: 60_000, limit: 2 }];
const NAMED = [
  { name: 'short', ttl: 60_000, limit: 2 },
  { name: 'long', ttl: 600_000, limit: 4 },
];
const limits = {
  Short: { key: accountId(accountOf), count: 2, period: '1m' },
  Long: { key: accountId(accountOf), count: 4, period: '10m' },
};
const limiter = { limits };
const ofOne = (count: number, path = '/'): readonly Ask[] => times(count, { path, 'x-account': '1' });

const both = (
  theirs: Promise<INestApplication>,
  ours: Promise<INestApplication>,
  asks: readonly Ask[],
): Promise<Pair> =>
  pair(
    async () => answers(await sendTo(theirs), asks),
    async () => answers(await sendTo(ours), asks),
  );

export const calls: Rows = {
  '`ThrottlerModule.forRoot([…])`': () => both(there(TWO), here({ limiter, limits: ['Short'] }), ofOne(3)),
  '`ThrottlerGuard`': () => both(there(TWO), here({ limiter, limits: ['Short'] }), ofOne(3)),
  '`name`, `ttl`, `limit`': () => both(there(NAMED), here({ limiter, limits: ['Short', 'Long'] }), ofOne(3)),
  '`@Throttle({ short: { … } })`': () =>
    both(
      there(NAMED, { '/half': Throttle({ short: { limit: 1, ttl: 60_000 } }) }),
      here({ limiter, limits: ['Short', 'Long'] }, { '/half': Limits({ limit: 'Short', cost: 2 }) }),
      ofOne(2, '/half'),
    ),
  '`@SkipThrottle()`': () =>
    both(there(TWO, { '/free': SkipThrottle() }), here({ limiter, limits: ['Short'] }, { '/free': Unlimited() }), [
      ...ofOne(3, '/free'),
      ...ofOne(3),
    ]),
  '`@SkipThrottle({ short: true })`': () =>
    both(
      there(NAMED, { '/long': SkipThrottle({ short: true }) }),
      here({ limiter, limits: ['Short', 'Long'] }, { '/long': Unlimited('Short') }),
      ofOne(5, '/long'),
    ),
  '`getTracker`': () =>
    both(
      there({ throttlers: TWO, getTracker: (request) => String((request as IncomingMessage).headers['x-account']) }),
      here({ limiter, limits: ['Short'] }),
      header('x-account', '1', '1', '1', '2'),
    ),
  '`skipIf`': () => {
    const isOurs = (context: ExecutionContext): boolean => accountOf(context) === 'ours';
    return both(there({ throttlers: TWO, skipIf: isOurs }), here({ limiter, limits: ['Short'], skip: isOurs }), [
      ...header('x-account', 'ours', 'ours', 'ours'),
      ...ofOne(3),
    ]);
  },
  '`ThrottlerException`': () =>
    pair(
      async () => answers(await catching(there(TWO), ThrottlerException), ofOne(3), denial),
      async () => answers(await catching(here({ limiter, limits: ['Short'] }), RateLimitException), ofOne(3), denial),
    ),
  '`blockDuration`': 'the page of bans has a test of its own',
  'a guard of your own for WebSockets': 'the tests of @sluice/nestjs run its contexts',
};
