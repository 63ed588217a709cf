import {
  Catch,
  Controller,
  Get,
  HttpException,
  Injectable,
  Post,
  Req,
  UseFilters,
  UseGuards,
  type ArgumentsHost,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { accountId, clientNetwork, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import {
  Limits,
  rateLimit,
  RateLimitException,
  RateLimitFilter,
  RateLimitGuard,
  RateLimitModule,
  Unlimited,
  type LimitedRequest,
} from '@sluice/nestjs';
import { describe, expect, test } from 'vitest';
import { GUARD, listening, appOf, moduleOf, PLATFORMS, served, statuses, stillStore } from './app.ts';

/** What an authentication does: it runs before the limits, and leaves a user on the request. */
@Injectable()
class Authentication implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: string | undefined }>();
    request.user = request.headers['authorization'];
    return true;
  }
}

const userOf = (context: ExecutionContext): string | null =>
  context.switchToHttp().getRequest<{ user?: string }>().user ?? null;

@Controller()
class HelloController {
  @Get()
  hello(@Req() request: LimitedRequest<Request>): string {
    return `${request.rateLimit?.limit} ${request.rateLimit?.remaining}`;
  }

  @Unlimited()
  @Get('health')
  health(): string {
    return 'well';
  }
}

@Limits('PerController')
@Controller('orders')
class OrdersController {
  @Get()
  list(): string {
    return 'listed';
  }

  @Limits({ limit: 'OrdersPerAccount', cost: 2 })
  @Post()
  create(): string {
    return 'ordered';
  }

  @Unlimited('PerClient')
  @Get('cheap')
  cheap(): string {
    return 'cheap';
  }

  @Limits({ limit: 'PerController', cost: 3 })
  @Get('dear')
  dear(): string {
    return 'dear';
  }
}

describe.each(PLATFORMS)('on %s', (_name, adapter) => {
  const appModule = (options: object = {}) =>
    moduleOf({
      imports: [
        RateLimitModule.forRoot({
          limiter: {
            limits: {
              PerClient: { key: clientNetwork(), count: 10, period: '1m' },
              PerController: { key: everyone(), count: 5, period: '1m' },
              OrdersPerAccount: { key: accountId(userOf), count: 4, period: '1h' },
            },
            log: false,
            ...stillStore(),
          },
          limits: ['PerClient'],
          ...options,
        }),
      ],
      controllers: [HelloController, OrdersController],
      providers: [{ provide: APP_GUARD, useClass: Authentication }, GUARD],
    });

  test('the limits of the module apply to each handler, and the decision is on the request', async () => {
    const ask = await served(appModule(), adapter);
    const answer = await ask();
    expect([answer.status, await answer.text()]).toEqual([200, 'PerClient 9']);
    expect(answer.headers.get('RateLimit')).toBe('"PerClient";r=9;t=6');
    expect(answer.headers.get('RateLimit-Policy')).toBe('"PerClient";q=10;w=60');
  });

  test('a denied request is answered as by the other adapters', async () => {
    const ask = await served(appModule(), adapter);
    expect(await statuses(10, ask)).toEqual(Array(10).fill(200));
    const denied = await ask();
    expect(denied.status).toBe(429);
    expect(denied.headers.get('Content-Type')).toBe('application/problem+json');
    expect(denied.headers.get('Cache-Control')).toBe('no-store');
    expect(denied.headers.get('Retry-After')).toBe('6');
    expect(denied.headers.get('RateLimit')).toBe('"PerClient";r=0;t=6');
    expect(await denied.json()).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too many requests',
      status: 429,
      detail: 'Rate limit "PerClient" exceeded. Try again in 6 seconds.',
      'violated-policies': ['PerClient'],
    });
  });

  test('the limits of a class and of a handler are added, and decided together', async () => {
    const ask = await served(appModule(), adapter);
    const order = (): Promise<Response> => ask('/orders', { method: 'POST', headers: { Authorization: 'ann' } });
    const first = await order();
    expect(first.status).toBe(201);
    expect(first.headers.get('RateLimit')).toBe(
      '"PerClient";r=9;t=6, "PerController";r=4;t=12, "OrdersPerAccount";r=2;t=900',
    );
    expect(await statuses(2, order)).toEqual([201, 429]);
    // What was denied took nothing of the other limits.
    expect((await ask('/orders')).headers.get('RateLimit')).toBe('"PerClient";r=7;t=6, "PerController";r=2;t=12');
  });

  test('a handler without limits is not limited, and one may leave out a limit or name it again', async () => {
    const ask = await served(appModule(), adapter);
    expect((await ask('/health')).headers.get('RateLimit')).toBeNull();
    expect((await ask('/orders/cheap')).headers.get('RateLimit')).toBe('"PerController";r=4;t=12');
    expect((await ask('/orders/dear')).headers.get('RateLimit')).toBe('"PerClient";r=9;t=6, "PerController";r=1;t=12');
  });

  test('an account that the authentication found is limited wherever it comes from', async () => {
    const ask = await served(appModule(), adapter);
    const as = (user: string) => () => ask('/orders', { method: 'POST', headers: { Authorization: user } });
    expect(await statuses(2, as('ann'))).toEqual([201, 201]);
    expect(await statuses(1, as('ann'))).toEqual([429]);
    expect(await statuses(1, as('bob'))).toEqual([201]);
  });

  test('a client behind a trusted proxy is limited by its own address, and no other header is believed', async () => {
    const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
    const module = (trustedProxies: readonly string[]) =>
      moduleOf({
        imports: [
          RateLimitModule.forRoot({ count: 1, period: '1m', name: 'PerClient', trustedProxies, ...stillStore() }),
        ],
        controllers: [HelloController],
        providers: [GUARD],
      });
    const behind = await served(module(['loopback']), adapter);
    expect((await behind('/', from('203.0.113.7'))).status).toBe(200);
    expect((await behind('/', from('203.0.113.7'))).status).toBe(429);
    expect((await behind('/', from('203.0.113.8'))).status).toBe(200);
    const direct = await served(module([]), adapter);
    expect((await direct('/', from('203.0.113.7'))).status).toBe(200);
    expect((await direct('/', from('203.0.113.8'))).status).toBe(429);
  });

  test('an id that is not valid is answered with its status 400, and the other limits count it', async () => {
    const ask = await served(appModule(), adapter);
    const order = () => ask('/orders', { method: 'POST', headers: { Authorization: 'x'.repeat(300) } });
    const answer = await order();
    expect(answer.status).toBe(400);
    expect(answer.headers.get('RateLimit')).toBe('"PerClient";r=9;t=6, "PerController";r=4;t=12');
    expect(await statuses(5, order)).toEqual([400, 400, 400, 400, 429]);
  });

  test('a filter of the application that catches everything comes before ours, and sees the problem', async () => {
    @Catch()
    class OwnWords implements ExceptionFilter {
      catch(error: unknown, host: ArgumentsHost): void {
        const { message } = error as HttpException;
        const response = host.switchToHttp().getResponse<{ status(code: number): { send(body: object): void } }>();
        response.status((error as HttpException).getStatus()).send({ own: message });
      }
    }
    const app = await appOf(appModule(), adapter);
    app.useGlobalFilters(new OwnWords());
    const ask = await listening(app);
    await statuses(10, ask);
    const denied = await ask();
    expect([denied.status, denied.headers.get('Retry-After')]).toEqual([429, '6']);
    expect(await denied.json()).toEqual({ own: 'Rate limit "PerClient" exceeded. Try again in 6 seconds.' });
  });

  test('an onDenied that returns nothing is an error that names it', async () => {
    const errors: unknown[] = [];
    const filter: ExceptionFilter = {
      catch(error: unknown, host: ArgumentsHost) {
        errors.push(error);
        const response = host.switchToHttp().getResponse<{ status(code: number): { send(body: string): void } }>();
        response.status(500).send('');
      },
    };
    const app = await appOf(appModule({ onDenied: () => undefined }), adapter);
    app.useGlobalFilters(filter);
    await statuses(11, await listening(app));
    expect(errors).toMatchObject([{ code: 'ERR_OPTION', message: expect.stringMatching(/^`onDenied` must return/) }]);
  });

  test('what onDenied returns is thrown instead', async () => {
    const onDenied = async (context: ExecutionContext, { limit }: { limit: string | null }) =>
      new HttpException({ handler: context.getHandler().name, limit }, 418);
    const ask = await served(appModule({ onDenied }), adapter);
    await statuses(10, ask);
    const denied = await ask();
    expect([denied.status, denied.headers.get('RateLimit')]).toEqual([418, '"PerClient";r=0;t=6']);
    expect(await denied.json()).toEqual({ handler: 'hello', limit: 'PerClient' });
  });

  test('settle gives the true cost when the response has ended', async () => {
    const settled: string[] = [];
    @Controller()
    class LoginController {
      @Limits({
        limit: 'Failures',
        mode: 'check-only',
        settle: (context, { finished }) => {
          const { statusCode } = context.switchToHttp().getResponse<{ statusCode: number }>();
          settled.push(`${statusCode} ${finished}`);
          return statusCode === 401 ? 1 : 0;
        },
      })
      @Get(':password')
      login(@Req() request: { params: { password: string } }): string {
        if (request.params.password === 'right') return 'welcome';
        throw new HttpException('wrong', 401);
      }
    }
    const ask = await served(
      moduleOf({
        imports: [
          RateLimitModule.forRoot({
            limiter: { limits: { Failures: { key: clientNetwork(), count: 1, period: '1h' } }, ...stillStore() },
            limits: [],
          }),
        ],
        controllers: [LoginController],
        providers: [GUARD],
      }),
      adapter,
    );
    expect((await ask('/right')).status).toBe(200);
    expect((await ask('/wrong')).status).toBe(401);
    await expect.poll(() => settled).toEqual(['200 true', '401 true']);
    expect((await ask('/right')).status).toBe(429);
  });

  test('a slot is held until the response has ended', async () => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    let begun = 0;
    @Controller()
    class SlowController {
      @UseGuards(rateLimit({ limit: concurrency({ concurrency: 1, key: everyone() }) }))
      @UseFilters(RateLimitFilter)
      @Get()
      async slow(): Promise<string> {
        begun++;
        await finished;
        return 'done';
      }
    }
    const ask = await served(moduleOf({ controllers: [SlowController] }), adapter);
    const first = ask();
    await expect.poll(() => begun).toBe(1);
    expect((await ask()).status).toBe(503);
    finish();
    expect(await (await first).text()).toBe('done');
    await expect.poll(async () => (await ask()).status).toBe(200);
  });

  test('a guard with a limit of its own needs no module', async () => {
    @Controller()
    class SearchController {
      @UseGuards(rateLimit({ count: 1, period: '1m', ...stillStore(), name: 'Searches' }))
      @Get('search')
      search(): string {
        return 'found';
      }
    }
    const ask = await served(moduleOf({ controllers: [SearchController] }), adapter);
    expect((await ask('/search')).status).toBe(200);
    const denied = await ask('/search');
    expect(denied.status).toBe(429);
    expect(await denied.json()).toMatchObject({ title: 'Too many requests', 'violated-policies': ['Searches'] });
  });

  test('the guard limits only what it guards', async () => {
    @Controller('guarded')
    @UseGuards(RateLimitGuard)
    class GuardedController {
      @Get()
      get(): string {
        return 'guarded';
      }
    }
    const ask = await served(
      moduleOf({
        imports: [RateLimitModule.forRoot({ count: 1, period: '1m', name: 'PerClient', ...stillStore() })],
        controllers: [HelloController, GuardedController],
      }),
      adapter,
    );
    expect(await statuses(3, ask)).toEqual([200, 200, 200]);
    expect(await statuses(2, () => ask('/guarded'))).toEqual([200, 429]);
  });
});

test('an exception has the decision and the wait of the client', async () => {
  const seen: RateLimitException[] = [];
  @Catch(RateLimitException)
  class Seeing implements ExceptionFilter<RateLimitException> {
    catch(exception: RateLimitException, host: ArgumentsHost): void {
      seen.push(exception);
      new RateLimitFilter().catch(exception, host);
    }
  }
  const app = await appOf(
    moduleOf({
      imports: [RateLimitModule.forRoot({ count: 1, period: '1m', name: 'PerClient', ...stillStore() })],
      controllers: [HelloController],
      providers: [GUARD],
    }),
  );
  app.useGlobalFilters(new Seeing());
  const ask = await listening(app);
  expect(await statuses(2, ask)).toEqual([200, 429]);
  const [{ decision, retryAfterSeconds, message }] = seen as [RateLimitException];
  expect([decision.limit, decision.id, retryAfterSeconds]).toEqual(['PerClient', '127.0.0.1', 60]);
  expect(message).toBe('Rate limit "PerClient" exceeded. Try again in 60 seconds.');
});
