import { accountId, createLimiter, ipAddress, type Limiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';

const [call, limit = '', id = '', cost = '1'] = process.argv.slice(2);

const limiter: Limiter = createLimiter({
  // As the servers have them: best from a module that both import.
  limits: {
    RequestsPerIPAddress: { key: ipAddress(), count: 20, period: '1s' },
    OrdersPerAccount: { key: accountId(), count: 300, period: '180m' },
  },
  store: redisStore({ url: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379' }),
  failure: { deadlineMs: 1000, onFailure: 'closed' },
});

try {
  if (!['check', 'charge', 'reset'].includes(call ?? ''))
    throw new Error('Usage: check|charge|reset <limit> <id> [cost]');
  await limiter.ready({ timeoutMs: 5000 });
  if (call === 'check') console.log(await limiter.check([{ limit, id }]));
  else if (call === 'charge') console.log(await limiter.charge([{ limit, id, cost: Number(cost) }]));
  else await limiter.reset([{ limit, id }]);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await limiter.close({ store: true });
}
