import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Field, GraphQLModule, ObjectType, Query, ResolveField, Resolver, Subscription } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import { accountId, clientNetwork, type Key, type LimiterEvent } from '@sluice/core';
import { graphqlContext, Limits, RateLimitModule, Unlimited } from '@sluice/nestjs';
import type { DynamicModule, ExecutionContext, INestApplication } from '@nestjs/common';
import type { RequestDecision } from '@sluice/core/http';
import { createClient, type Client } from 'graphql-ws';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { GUARD, appOf, moduleOf, PLATFORMS, served, stillStore, type Ask } from './app.ts';

@Resolver()
class BooksResolver {
  @Query(() => String)
  title(): string {
    return 'Emma';
  }

  @Limits({ limit: 'PerClient', cost: 2 })
  @Query(() => String)
  dear(): string {
    return 'dear';
  }

  @Unlimited()
  @Query(() => String)
  free(): string {
    return 'free';
  }

  @Limits({ limit: 'PerClient', cost: 2 })
  @Subscription(() => String)
  async *news(): AsyncGenerator<{ readonly news: string }> {
    yield { news: 'Emma' };
  }
}

const moduleWith = (graphql: DynamicModule, key: Key<ExecutionContext> = clientNetwork()) =>
  moduleOf({
    imports: [
      graphql,
      RateLimitModule.forRoot({
        name: 'PerClient',
        key,
        count: 3,
        period: '1m',
        overrides: key === BLOCKED ? { troll: 'blocked' } : {},
        ...stillStore(),
        contexts: { graphql: graphqlContext },
      }),
    ],
    providers: [BooksResolver, GUARD],
  });

const BLOCKED = accountId<ExecutionContext>(() => 'troll');

const apollo = (context?: ApolloDriverConfig['context'], subscriptions = {}): DynamicModule =>
  GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    playground: false,
    subscriptions,
    ...(context !== undefined && { context }),
  });

const mercurius = (subscription = false): DynamicModule =>
  GraphQLModule.forRoot<MercuriusDriverConfig>({ driver: MercuriusDriver, autoSchemaFile: true, subscription });

const onFastify = PLATFORMS[1]![1];

async function query(ask: Ask, text: string): Promise<{ fields: string | null; retryAfter: string | null; body: any }> {
  const response = await ask('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: text }),
  });
  const { headers } = response;
  return { fields: headers.get('RateLimit'), retryAfter: headers.get('Retry-After'), body: await response.json() };
}

test('each field with a guard is counted, with the fields of the response', async () => {
  const ask = await served(moduleWith(apollo()));
  expect(await query(ask, '{ title free }')).toEqual({
    fields: '"PerClient";r=2;t=20',
    retryAfter: null,
    body: { data: { title: 'Emma', free: 'free' } },
  });
  expect((await query(ask, '{ one: title two: title }')).fields).toBe('"PerClient";r=0;t=20');
});

test('the error of a denied field has a code, and the problem details among its extensions', async () => {
  const ask = await served(moduleWith(apollo()));
  await query(ask, '{ dear }');
  const { fields, retryAfter, body } = await query(ask, '{ dear }');
  expect([fields, retryAfter]).toEqual(['"PerClient";r=1;t=20', '20']);
  const [{ message, extensions }] = body.errors;
  expect(message).toBe('Rate limit "PerClient" exceeded. Try again in 20 seconds.');
  expect(extensions).toMatchObject({
    code: 'TOO_MANY_REQUESTS',
    title: 'Too many requests',
    status: 429,
    'violated-policies': ['PerClient'],
    retryAfterSeconds: 20,
  });
});

test('a key reads the context of GraphQL, and the decision is on its request', async () => {
  const seen: (number | undefined)[] = [];
  const key = accountId((context: ExecutionContext) => {
    const { req } = context.getArgByIndex<{ req: { rateLimit?: RequestDecision; ip: string } }>(2);
    seen.push(req.rateLimit?.remaining);
    return req.ip;
  });
  const ask = await served(moduleWith(apollo(), key));
  await query(ask, '{ one: title two: title }');
  expect(seen).toEqual([undefined, 2]);
});

test('without a request in the context of GraphQL, a limit by address is an error, and the field is not resolved', async () => {
  const ask = await served(moduleWith(apollo(() => ({ req: {} }))));
  const { body } = await query(ask, '{ title }');
  expect(body.errors[0].message).toMatch(/^The request has no client address/);
});

test('a field denied for a blocked id has the code FORBIDDEN and no retryAfterSeconds', async () => {
  const ask = await served(moduleWith(apollo(), BLOCKED));
  const { retryAfter, body } = await query(ask, '{ title }');
  expect(retryAfter).toBeNull();
  expect(body.errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', status: 403 });
  expect(body.errors[0].extensions).not.toHaveProperty('retryAfterSeconds');
});

test('a resolver with limits whose context has no resolver is found when the application starts', async () => {
  const app = await appOf(
    moduleOf({
      imports: [RateLimitModule.forRoot({ count: 1, period: '1m' })],
      providers: [BooksResolver, GUARD],
    }),
  );
  await expect(app.init()).rejects.toThrow(
    /^`contexts.graphql` must be given, because BooksResolver.title has limits.*\{ graphql: graphqlContext \}/,
  );
});

test('on Mercurius the fields are those of its reply', async () => {
  const ask = await served(moduleWith(mercurius()), onFastify);
  expect(await query(ask, '{ dear }')).toMatchObject({
    fields: '"PerClient";r=1;t=20',
    body: { data: { dear: 'dear' } },
  });
  const { retryAfter, body } = await query(ask, '{ dear }');
  expect(retryAfter).toBe('20');
  expect(body.errors[0]).toMatchObject({
    message: 'Rate limit "PerClient" exceeded. Try again in 20 seconds.',
    extensions: { code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 20 },
  });
});

/** Express has the response on the request. */
function withoutResponse(request: object): object {
  return Object.create(request, { res: { value: undefined } }) as object;
}

test('without a response in the context of GraphQL, a request is limited by its address', async () => {
  const ask = await served(moduleWith(apollo(({ req }: { req: object }) => ({ req: withoutResponse(req) }))));
  const { fields, body } = await query(ask, '{ one: dear two: dear }');
  expect(fields).toBeNull();
  expect(body.errors).toMatchObject([{ path: ['two'], extensions: { retryAfterSeconds: 20 } }]);
});

@ObjectType()
class Author {
  @Field(() => String)
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

@Resolver(() => Author)
class AuthorsResolver {
  @Query(() => [Author])
  authors(): Author[] {
    return [new Author('Austen'), new Author('Eliot')];
  }

  @Limits('PerClient')
  @ResolveField(() => String)
  portrait(): string {
    return 'oil on canvas';
  }
}

/** An application whose authors have a field with limits, and the warnings of its limiter. */
function authorsModule(graphql: Partial<ApolloDriverConfig>) {
  const warnings: string[] = [];
  const onEvent = ({ type, message }: LimiterEvent): void => void (type === 'warning' && warnings.push(message));
  const limited = RateLimitModule.forRoot({
    limiter: {
      limits: { PerClient: { key: clientNetwork(), count: 3, period: '1m' } },
      ...stillStore(),
      onEvent,
      log: false,
    },
    limits: ['PerClient'],
    contexts: { graphql: graphqlContext },
  });
  const options = { driver: ApolloDriver, autoSchemaFile: true, playground: false, ...graphql };
  const imports = [GraphQLModule.forRoot<ApolloDriverConfig>(options), limited];
  return { warnings, module: moduleOf({ imports, providers: [AuthorsResolver, GUARD] }) };
}

test('@Limits on a resolver of a field has no effect and is a warning, because Nest calls no guards for it', async () => {
  const { module, warnings } = authorsModule({});
  const ask = await served(module);
  expect(await query(ask, '{ authors { portrait } }')).toMatchObject({
    fields: '"PerClient";r=2;t=20',
    body: { data: { authors: [{ portrait: 'oil on canvas' }, { portrait: 'oil on canvas' }] } },
  });
  expect(warnings).toEqual([
    "The limits of AuthorsResolver.portrait have no effect, because Nest calls no guards for resolvers of fields. To limit them, set fieldResolverEnhancers: ['guards'] in the options of GraphQLModule. Each of their calls then counts.",
  ]);
});

test("with fieldResolverEnhancers: ['guards'] each call of a resolver of a field counts", async () => {
  const { module, warnings } = authorsModule({ fieldResolverEnhancers: ['guards'] });
  const ask = await served(module);
  expect(await query(ask, '{ authors { portrait } }')).toMatchObject({ fields: '"PerClient";r=0;t=20' });
  const { body } = await query(ask, '{ authors { portrait } }');
  expect(body.errors).toMatchObject([{ path: ['authors'], extensions: { code: 'TOO_MANY_REQUESTS' } }]);
  expect(warnings).toEqual([]);
});

test.each([
  ['as it is by default', undefined],
  ['{ req, res }', ({ req, res }: { req?: object; res?: object }) => ({ req, res })],
  ['{ extra }', ({ extra }: { extra: object }) => ({ extra })],
  ['without a request', () => ({ user: 'ann' })],
])(
  'a subscription over graphql-ws is limited by the address of its handshake, with a context %s',
  async (_, context) => {
    const client = await subscriber(await appOf(moduleWith(apollo(context, { 'graphql-ws': true }))));
    const results = async (): Promise<unknown[]> => {
      const all: unknown[] = [];
      for await (const result of client.iterate({ query: 'subscription { news }' })) all.push(result);
      return all;
    };
    expect(await results()).toEqual([{ data: { news: 'Emma' } }]);
    const denied = [{ extensions: { code: 'TOO_MANY_REQUESTS', retryAfterSeconds: 20 } }];
    await expect(results()).resolves.toMatchObject([{ errors: denied }]);
  },
);

async function subscriber(app: INestApplication): Promise<Client> {
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const client = createClient({ url: `ws://127.0.0.1:${port}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 });
  onTestFinished(() => void client.dispose());
  return client;
}

test('a subscription on Mercurius is limited by the address of its handshake', async () => {
  const client = await subscriber(await appOf(moduleWith(mercurius(true)), onFastify));
  const first = () => client.iterate({ query: 'subscription { news }' }).next();
  expect(await first()).toMatchObject({ value: { data: { news: 'Emma' } } });
  // Mercurius sends the message of an error alone.
  const denied = [{ message: 'Rate limit "PerClient" exceeded. Try again in 20 seconds.' }];
  await expect(first()).rejects.toMatchObject(denied);
});

test('a query is limited by its own address, whatever the application has as `extra` in its context', async () => {
  const context = ({ req, res }: { req: object; res: object }) => ({ req, res, extra: { request: {} } });
  const ask = await served(moduleWith(apollo(context)));
  expect((await query(ask, '{ title }')).fields).toBe('"PerClient";r=2;t=20');
});
