// What the compiler must accept and refuse of the names of limits; `npm run check -- types` reads it, nothing runs it.
import { loadLimits } from '@sluice/config';
import { accountId, createLimiter, ipAddress, type LimitDefinition, type Limiter, type SpendEntry } from '@sluice/core';
import { rateLimit as expressRateLimit, type RateLimitOptions } from '@sluice/express';
import { rateLimit as fastifyRateLimit } from '@sluice/fastify';
import { rateLimit as koaRateLimit } from '@sluice/koa';
import { limitNode, limitUpgrade } from '@sluice/node';
import type { Request } from 'express';
import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';

const numbers = { count: 100, period: '1m' } as const;

// A limiter knows the names of its limits, and what its keys need of a request.
const limiter = createLimiter({
  limits: {
    Orders: { key: accountId((req: Request) => req.get('account') ?? null), ...numbers },
    Requests: { key: ipAddress(), ...numbers },
  },
});
const known: Limiter<Request, 'Orders' | 'Requests'> = limiter;

void limiter.spend([{ limit: 'Orders', id: '7' }]);
// @ts-expect-error no limit has this name
void limiter.spend([{ limit: 'Typo', id: '7' }]);
void limiter.spend({ firstOf: [[{ limit: 'Orders', id: '7' }], [{ limit: 'Requests', id: '10.0.0.1', cost: 2 }]] });
// @ts-expect-error no limit has this name
void limiter.spend({ firstOf: [[{ limit: 'Orders', id: '7' }], [{ limit: 'Typo', id: '7' }]] });
// @ts-expect-error alternatives are batches, not entries
void limiter.check({ firstOf: [{ limit: 'Orders', id: '7' }] });
// @ts-expect-error no limit has this name, which is another in another case
void limiter.check([{ limit: 'orders', id: '7' }]);
// @ts-expect-error no limit has this name
void limiter.charge([{ limit: 'Typo', id: '7', cost: 2 }]);
// @ts-expect-error no limit has this name
void limiter.refund([{ limit: 'Typo', id: '7' }]);
// @ts-expect-error no limit has this name
void limiter.reset([{ limit: 'Typo', id: '7' }]);
const entry: SpendEntry<'Orders'> = { limit: 'Orders', id: '7' };
void known.spend([entry]);

expressRateLimit({ limiter });
expressRateLimit({ limiter, limits: ['Orders', 'Requests'] });
// @ts-expect-error no limit has this name
expressRateLimit({ limiter, limits: ['Typo'] });
// @ts-expect-error no limit has this name
expressRateLimit({ limiter, limits: ['Orders', { limit: 'Typo', cost: 2 }] });
// Callbacks are still given what their framework gives.
expressRateLimit({
  limiter,
  skip: (req) => req.path === '/health',
  limits: [{ limit: 'Orders', cost: (req) => req.path.length, settle: (_req, res) => res.statusCode }],
});
// @ts-expect-error a limiter has its own numbers
expressRateLimit({ limiter, limits: ['Orders'], count: 5 });
// @ts-expect-error limits are those of a limiter
expressRateLimit({ ...numbers, limits: ['Orders'] });

const anyone = createLimiter({ limits: { Requests: { key: ipAddress(), ...numbers } } });
koaRateLimit({ limiter: anyone, limits: ['Requests', { limit: 'Requests', cost: (ctx) => ctx.path.length }] });
// @ts-expect-error no limit has this name
koaRateLimit({ limiter: anyone, limits: ['Typo'] });
// @ts-expect-error no limit has this name
koaRateLimit({ limiter: anyone, limits: [{ limit: 'Typo' }] });

const sockets: Limiter<IncomingMessage, 'Requests'> = anyone;
limitUpgrade(sockets, { limits: ['Requests'], accept: (_request, socket) => socket.destroy() });
// @ts-expect-error no limit has this name
limitUpgrade(sockets, { limits: ['Typo'], accept: (_request, socket) => socket.destroy() });
limitNode({ limiter: sockets, limits: ['Requests'] });
// @ts-expect-error the limiter has no limit of this name
limitNode({ limiter: sockets, limits: ['Typo'] });

// Names that are known only at run time: any text.
declare const definitions: Record<string, LimitDefinition<Request>>;
declare const name: string;
const dynamic: Limiter<Request> = createLimiter({ limits: definitions });
void dynamic.spend([{ limit: name, id: '7' }]);
expressRateLimit({ limiter: dynamic, limits: [name, { limit: name }] });
void createLimiter({ limits: { [name]: { key: ipAddress(), ...numbers } } }).spend([{ limit: name, id: '7' }]);
void createLimiter({ limits: {} }).spend([{ limit: name, id: '7' }]);
void createLimiter<Request>({ limits: { Orders: { key: accountId((req) => req.path), ...numbers } } }).check([
  { limit: name, id: '7' },
]);
export async function fromFiles(): Promise<void> {
  const loaded = createLimiter({ ...(await loadLimits({ defaults: 'limits.yaml', keys: { Orders: ipAddress() } })) });
  void loaded.spend([{ limit: name, id: '7' }]);
}

// A limiter of any names takes the place of one with known names where its names do not matter.
const loose: Limiter<Request> = limiter;
void loose.spend([{ limit: name, id: '7' }]);
export const options: RateLimitOptions = { limiter, limits: [name] };
expressRateLimit(options);

// Limits can be swapped for others.
limiter.replace({ limits: { Others: { key: ipAddress(), ...numbers } } });

// Names of Fastify's plugin and of its routes are any text: they are checked when they are registered.
declare const app: FastifyInstance;
void app.register(fastifyRateLimit, { limiter: anyone, limits: ['Requests'] });
app.get('/', { config: { rateLimit: { limits: [name] } } }, () => 'hello');
