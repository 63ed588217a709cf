import { Controller, Get, HttpException, Injectable, Module, Scope, UseGuards, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { MessagePattern, RpcException } from '@nestjs/microservices';
import { WsAdapter } from '@nestjs/platform-ws';
import { Test } from '@nestjs/testing';
import { SubscribeMessage, WebSocketGateway, WsException } from '@nestjs/websockets';
import { clientNetwork, createLimiter, everyone, memoryStore, type LimiterEvent } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import {
  Limits,
  microserviceContext,
  RATE_LIMIT_OPTIONS,
  RateLimitGuard,
  RateLimitModule,
  Unlimited,
  webSocketContext,
  type RateLimitModuleOptions,
} from '@sluice/nestjs';
import { expect, onTestFinished, test } from 'vitest';
import { GUARD, listening, appOf, moduleOf, served, statuses } from './app.ts';

const limits = {
  PerClient: { key: clientNetwork(), count: 2, period: '1m' },
  Orders: { key: everyone(), count: 1, period: '1m' },
} as const;
/** Limits of the same names with other numbers. */
const others = {
  PerClient: { ...limits.PerClient, count: 3 },
  Orders: { ...limits.Orders, count: 2 },
} as const;

@Controller()
class HelloController {
  @Get()
  hello(): string {
    return 'hello';
  }
}

/** Starts an application with these options, and returns why it did not. */
async function problemOf(
  options: object,
  controllers: Type[] = [HelloController],
): Promise<{ code?: string; message: string }> {
  try {
    const module = moduleOf({ imports: [RateLimitModule.forRoot(options as never)], controllers, providers: [GUARD] });
    await (await appOf(module)).init();
  } catch (error) {
    return error as Error;
  }
  throw new Error('It has started.');
}

test.each([
  ['no options', undefined, 'ERR_OPTION', 'RateLimitModule.forRoot'],
  ['a typo', { count: 1, period: '1m', brust: 1 }, 'ERR_UNKNOWN_OPTION', '`brust`'],
  ['numbers that are not valid', { count: 0, period: '1m' }, 'ERR_OPTION', '`RateLimitModule.forRoot.count`'],
  ['limits of a limiter that it does not have', { limiter: { limits }, limits: ['Typo'] }, 'ERR_UNKNOWN_LIMIT', 'Typo'],
  ['several limits of which none is named', { limiter: { limits } }, 'ERR_OPTION', "['PerClient', 'Orders']"],
  ['a typo beside no limits', { limiter: { limits }, limits: [], skp: 1 }, 'ERR_UNKNOWN_OPTION', '`skp`'],
  [
    'no limits, and no limits of the limiter',
    { limiter: { limits: {} }, limits: [] },
    'ERR_OPTION',
    'must have a limit',
  ],
  ['what is not a limiter', { limiter: 7 }, 'ERR_OPTION', 'createLimiter'],
  ['options of a limiter that are wrong', { limiter: { limits, typo: 1 } }, 'ERR_UNKNOWN_OPTION', '`createLimiter`'],
  ['contexts that are not an object', { count: 1, period: '1m', contexts: [] }, 'ERR_OPTION', '`contexts`'],
  [
    'a resolver that is not a function',
    { count: 1, period: '1m', contexts: { ws: {} } },
    'ERR_OPTION',
    '`contexts.ws`',
  ],
])('%s: an application does not start', async (_name, options, code, part) => {
  const problem = await problemOf(options as never);
  expect(problem.message).toContain(part);
  expect(problem.code).toBe(code);
});

test.each([
  ['@Limits', Limits('Typo')],
  ['@Unlimited', Unlimited('Typo')],
])('an unknown name in %s is found when the application starts', async (_name, decorate) => {
  @Controller()
  class OrdersController {
    @decorate
    @Get()
    list(): void {}
  }
  const problem = await problemOf({ limiter: { limits }, limits: ['PerClient'] }, [OrdersController]);
  expect(problem.code).toBe('ERR_UNKNOWN_LIMIT');
  expect(problem.message).toMatch(/^The limits of OrdersController\.list are wrong\. .*Typo/);
});

test('a cost above the burst in a decorator is found when the application starts', async () => {
  @Controller()
  class OrdersController {
    @Limits({ limit: 'Orders', cost: 2 })
    @Get()
    list(): void {}
  }
  const problem = await problemOf({ limiter: { limits }, limits: [] }, [OrdersController]);
  expect(problem.code).toBe('ERR_COST_OVER_BURST');
});

test('a handler with limits in a context without a resolver is found when the application starts', async () => {
  @Controller()
  class SumsController {
    @MessagePattern('sum')
    sum(): void {}
  }
  const problem = await problemOf({ count: 1, period: '1m' }, [SumsController]);
  expect(problem.code).toBe('ERR_OPTION');
  expect(problem.message).toBe(
    '`contexts.rpc` must be given, because SumsController.sum has limits and is called in such a context. ' +
      'For example contexts: { rpc: microserviceContext(RpcException) }. For a handler without limits: @Unlimited().',
  );
});

test('a message of a gateway with a guard, and without a resolver, is found when the application starts', async () => {
  @UseGuards(RateLimitGuard)
  @WebSocketGateway()
  class ChatGateway {
    @SubscribeMessage('say')
    say(): void {}
  }
  const app = await appOf(
    moduleOf({ imports: [RateLimitModule.forRoot({ count: 1, period: '1m' })], providers: [ChatGateway] }),
  );
  app.useWebSocketAdapter(new WsAdapter(app));
  await expect(app.init()).rejects.toThrow(/^`contexts.ws` must be given, because ChatGateway.say has limits/);
});

test('a guard without the module is an error that names the module', async () => {
  @Controller()
  @UseGuards(RateLimitGuard)
  class GuardedController {
    @Get()
    hello(): string {
      return 'hello';
    }
  }
  const compiled = Test.createTestingModule({ controllers: [GuardedController] }).compile();
  await expect(compiled).rejects.toThrow('RateLimitModule.forRoot(…) of @sluice/nestjs');
});

test('the module is imported once', async () => {
  const one = RateLimitModule.forRoot({ count: 1, period: '1m' });
  const other = RateLimitModule.forRoot({ count: 2, period: '1m' });
  await expect((await appOf(moduleOf({ imports: [one, one] }))).init()).resolves.toBeDefined();
  await expect((await appOf(moduleOf({ imports: [one, other] }))).init()).rejects.toThrow(
    /^RateLimitModule must be imported once/,
  );
});

test('a handler without limits needs no resolver', async () => {
  @Unlimited()
  @Controller()
  class SumsController {
    @MessagePattern('sum')
    sum(): void {}
  }
  const module = moduleOf({
    imports: [RateLimitModule.forRoot({ count: 1, period: '1m' })],
    controllers: [SumsController],
    providers: [GUARD],
  });
  await expect((await appOf(module)).init()).resolves.toBeDefined();
});

test('a context of an unknown type is an error at its first call', async () => {
  const app = await appOf(
    moduleOf({
      imports: [RateLimitModule.forRoot({ count: 1, period: '1m' })],
      controllers: [HelloController],
      providers: [GUARD],
    }),
  );
  const context = {
    getType: () => 'telegram',
    getClass: () => HelloController,
    getHandler: () => ({ name: 'hello' }),
  };
  expect(() => app.get(RateLimitGuard).canActivate(context as never)).toThrow(
    /^`contexts.telegram` must be given, because HelloController.hello has limits/,
  );
});

test('the exception of a context must be a class', () => {
  expect(() => webSocketContext(undefined as never)).toThrow(/`webSocketContext\(exception\)` must be a class/);
  expect(() => microserviceContext({} as never)).toThrow(/microserviceContext\(RpcException\)/);
  expect(() => microserviceContext(RpcException)).not.toThrow();
});

async function warningsOf(providers: object[], decorate = UseGuards()): Promise<readonly string[]> {
  const events: LimiterEvent[] = [];
  @Controller()
  @decorate
  class OrdersController {
    @Limits('Orders')
    @Get()
    list(): void {}
  }
  const onEvent = (event: LimiterEvent): void => void events.push(event);
  const module = moduleOf({
    imports: [RateLimitModule.forRoot({ limiter: { limits, onEvent, log: false }, limits: [] })],
    controllers: [OrdersController],
    providers: providers as never,
  });
  await (await appOf(module)).init();
  return events.map(({ message }) => message);
}

class OwnGuard extends RateLimitGuard {}
Injectable()(OwnGuard);

test('@Limits that no guard reads is a warning', async () => {
  expect(await warningsOf([])).toEqual([
    expect.stringMatching(/^The limits of OrdersController.list have no effect, because no RateLimitGuard guards them/),
  ]);
});

test('limits of the module without any guard are a warning', async () => {
  const events: LimiterEvent[] = [];
  @Controller()
  class PagesController {
    @Get()
    list(): void {}
  }
  const start = async (providers: object[]): Promise<void> => {
    const onEvent = (event: LimiterEvent): void => void events.push(event);
    const limit = { count: 1, period: '1m', onEvent, log: false } as const;
    const module = moduleOf({
      imports: [RateLimitModule.forRoot(limit)],
      controllers: [PagesController],
      providers: providers as never,
    });
    await (await appOf(module)).init();
  };
  await start([GUARD]);
  expect(events).toEqual([]);
  await start([]);
  expect(events).toMatchObject([
    { message: expect.stringContaining('The limits of PagesController.list have no effect') },
  ]);
});

test.each([
  ['a guard of the application', [GUARD], undefined],
  ['a guard of the application by its class', [{ provide: APP_GUARD, useClass: RateLimitGuard }], undefined],
  ['a guard for each request', [{ provide: APP_GUARD, scope: Scope.REQUEST, useClass: RateLimitGuard }], undefined],
  ['a guard of the class', [], UseGuards(RateLimitGuard)],
  ['a guard that extends ours', [], UseGuards(OwnGuard)],
])('%s reads @Limits', async (_name, providers, decorate) => {
  expect(await warningsOf(providers, decorate)).toEqual([]);
});

test('messages of a gateway that nothing guards are a warning, when their context has a resolver', async () => {
  const events: LimiterEvent[] = [];
  @WebSocketGateway()
  class ChatGateway {
    @SubscribeMessage('say')
    say(): void {}
  }
  const start = async (contexts: RateLimitModuleOptions['contexts']): Promise<void> => {
    const onEvent = (event: LimiterEvent): void => void events.push(event);
    const limit = { count: 1, period: '1m', onEvent, log: false } as const;
    const module = moduleOf({
      imports: [RateLimitModule.forRoot({ ...limit, contexts })],
      providers: [ChatGateway, GUARD],
    });
    const app = await appOf(module);
    app.useWebSocketAdapter(new WsAdapter(app));
    await app.init();
  };
  await start(undefined);
  expect(events).toEqual([]);
  await start({ ws: webSocketContext(WsException) });
  expect(events).toMatchObject([{ message: expect.stringContaining('The limits of ChatGateway.say have no effect') }]);
});

test('options come from a factory', async () => {
  const SETTINGS = Symbol('settings');
  class SettingsModule {}
  Module({ providers: [{ provide: SETTINGS, useValue: { count: 1 } }], exports: [SETTINGS] })(SettingsModule);
  const ask = await served(
    moduleOf({
      imports: [
        RateLimitModule.forRootAsync({
          imports: [SettingsModule],
          inject: [SETTINGS],
          useFactory: async ({ count }: { count: number }): Promise<RateLimitModuleOptions> => ({
            count,
            period: '1m',
          }),
        }),
      ],
      controllers: [HelloController],
      providers: [GUARD],
    }),
  );
  expect(await statuses(2, ask)).toEqual([200, 429]);
});

test('a factory without dependencies needs nothing else', async () => {
  const module = RateLimitModule.forRootAsync({ useFactory: () => ({ count: 1, period: '1m' }) });
  const ask = await served(moduleOf({ imports: [module], controllers: [HelloController], providers: [GUARD] }));
  expect(await statuses(2, ask)).toEqual([200, 429]);
});

test.each([
  ['by its numbers', { count: 1, period: '1m', name: 'PerClient' }],
  ['by the options of a limiter', { limiter: { limits: { PerClient: limits.PerClient } } }],
])('a limiter that the module made %s is closed with the application', async (_name, options) => {
  const store = memoryStore();
  const limited = 'limiter' in options ? { limiter: { ...options.limiter, store } } : { ...options, store };
  const app = await appOf(moduleOf({ imports: [RateLimitModule.forRoot(limited)] }));
  await app.init();
  expect(() => createLimiter({ limits: others, store })).toThrow(/already uses the limit name "PerClient"/);
  await app.close();
  await createLimiter({ limits: others, store }).close();
});

test('a limiter that was given is not closed', async () => {
  const limiter = createLimiter({ limits });
  onTestFinished(() => limiter.close());
  const app = await appOf(moduleOf({ imports: [RateLimitModule.forRoot({ limiter, limits: ['PerClient'] })] }));
  await app.init();
  await app.close();
  expect((await limiter.spend([{ limit: 'Orders', id: 'everyone' }])).allowed).toBe(true);
});

test('when the application does not start, the limiter that the module made is closed', async () => {
  const store = memoryStore();
  await problemOf({ limiter: { limits, store }, limits: ['Typo'] });
  await createLimiter({ limits: others, store }).close();
  @Controller()
  class OrdersController {
    @Limits('Typo')
    @Get()
    list(): void {}
  }
  await problemOf({ limiter: { limits, store }, limits: [] }, [OrdersController]);
  expect(() => createLimiter({ limits: others, store })).not.toThrow();
});

const tested = () =>
  Test.createTestingModule({
    imports: [RateLimitModule.forRoot({ count: 1, period: '1m' })],
    controllers: [HelloController],
    providers: [GUARD],
  });

async function listeningTo(builder: ReturnType<typeof tested>) {
  const app = (await builder.compile()).createNestApplication({ logger: false });
  onTestFinished(() => app.close());
  return listening(app);
}

test('a test replaces the options, and moves the time', async () => {
  const time = new FakeTime();
  const ask = await listeningTo(
    tested().overrideProvider(RATE_LIMIT_OPTIONS).useValue({ count: 2, period: '1m', time }),
  );
  expect(await statuses(3, ask)).toEqual([200, 200, 429]);
  time.advance(30_000);
  expect(await statuses(2, ask)).toEqual([200, 429]);
});

test('a test replaces the guard', async () => {
  const open = { canActivate: () => true };
  const ask = await listeningTo(tested().overrideProvider(RateLimitGuard).useValue(open));
  expect(await statuses(3, ask)).toEqual([200, 200, 200]);
});

test('a test replaces the guard of a handler', async () => {
  @Controller()
  @UseGuards(RateLimitGuard)
  class GuardedController extends HelloController {}
  const module = Test.createTestingModule({
    imports: [RateLimitModule.forRoot({ count: 1, period: '1m' })],
    controllers: [GuardedController],
  });
  const deny = {
    canActivate: () => {
      throw new HttpException('replaced', 418);
    },
  };
  const ask = await listeningTo(module.overrideGuard(RateLimitGuard).useValue(deny));
  expect(await statuses(2, ask)).toEqual([418, 418]);
});
