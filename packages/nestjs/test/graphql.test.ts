import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { accountId, clientNetwork, type Key } from '@sluice/core';
import { graphqlContext, Limits, RateLimitModule, Unlimited } from '@sluice/nestjs';
import type { ExecutionContext } from '@nestjs/common';
import type { RequestDecision } from '@sluice/core/http';
import { expect, test } from 'vitest';
import { GUARD, moduleOf, served, stillStore, type Ask } from './app.ts';

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
}

const module = (options: { key?: Key<ExecutionContext>; context?: ApolloDriverConfig['context'] } = {}) =>
  moduleOf({
    imports: [
      GraphQLModule.forRoot<ApolloDriverConfig>({
        driver: ApolloDriver,
        autoSchemaFile: true,
        playground: false,
        introspection: true,
        ...(options.context !== undefined && { context: options.context }),
      }),
      RateLimitModule.forRoot({
        name: 'PerClient',
        key: options.key ?? clientNetwork(),
        count: 3,
        period: '1m',
        ...stillStore(),
        contexts: { graphql: graphqlContext },
      }),
    ],
    providers: [BooksResolver, GUARD],
  });

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
  const ask = await served(module());
  expect(await query(ask, '{ title free }')).toEqual({
    fields: '"PerClient";r=2;t=20',
    retryAfter: null,
    body: { data: { title: 'Emma', free: 'free' } },
  });
  expect((await query(ask, '{ one: title two: title }')).fields).toBe('"PerClient";r=0;t=20');
});

test('the error of a denied field has a code, and the problem details among its extensions', async () => {
  const ask = await served(module());
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
  const ask = await served(module({ key }));
  await query(ask, '{ one: title two: title }');
  expect(seen).toEqual([undefined, 2]);
});

test('without a request in the context of GraphQL, a limit by address is an error, and the field is not resolved', async () => {
  const ask = await served(module({ context: () => ({ req: {} }) }));
  const { body } = await query(ask, '{ title }');
  expect(body.errors[0].message).toMatch(/^The request has no client address/);
});
