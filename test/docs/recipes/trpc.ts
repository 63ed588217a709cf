import { accountId, createLimiter } from '@sluice/core';
import { initTRPC, TRPCError } from '@trpc/server';

/** What your `createContext` returns. */
interface Context {
  readonly account: string;
}

const limiter = createLimiter({
  limits: { CallsPerAccount: { key: accountId(), count: 100, period: '1m' } },
});

export const t = initTRPC.context<Context>().create();

/** A procedure whose calls cost tokens: `limited(5).mutation(…)`. */
export const limited = (cost = 1) =>
  t.procedure.use(async ({ ctx, next }) => {
    const { allowed, retryAfterMs } = await limiter.spend([{ limit: 'CallsPerAccount', id: ctx.account, cost }]);
    if (allowed) return next();
    const message = `Too many calls. Try again in ${Math.ceil(retryAfterMs / 1000)} s.`;
    throw new TRPCError({ code: 'TOO_MANY_REQUESTS', message });
  });
