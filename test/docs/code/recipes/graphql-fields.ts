import { accountId, createLimiter } from '@sluice/core';
import { GraphQLError, type GraphQLFieldResolver } from 'graphql';

export interface Context {
  readonly account: string; // set by your server
}

const limiter = createLimiter({
  limits: {
    MessagesPerAccount: { key: accountId(), burst: 5, count: 60, period: '1h' },
    ExportsPerAccount: { key: accountId(), count: 3, period: '24h' },
  },
});

/** Limits a field: `{ Mutation: { sendMessage: limitedField('MessagesPerAccount', sendMessage) } }`. */
export function limitedField<Source, Args, Result>(
  limit: 'MessagesPerAccount' | 'ExportsPerAccount',
  resolve: GraphQLFieldResolver<Source, Context, Args, Result>,
): GraphQLFieldResolver<Source, Context, Args, Promise<Result>> {
  return async (source, args, context, info) => {
    const { allowed, retryAfterMs } = await limiter.spend([{ limit, id: context.account }]);
    if (allowed) return resolve(source, args, context, info);
    const retryAfterSeconds = Math.ceil(retryAfterMs / 1000);
    throw new GraphQLError(`Too many calls of ${info.fieldName}. Try again in ${retryAfterSeconds} s.`, {
      extensions: { code: 'TOO_MANY_REQUESTS', retryAfterSeconds },
    });
  };
}
