import { accountId, createLimiter } from '@sluice/core';

const limiter = createLimiter({ limits: { Orders: { key: accountId(), count: 300, period: '3h' } } });

await limiter.block([{ limit: 'Orders', id: '12345678', forMs: 7_200_000, reason: 'ticket 4711', by: 'mia' }]);
console.log(await limiter.blocked()); // who is blocked until when, why, and by whom
await limiter.unblock([{ limit: 'Orders', id: '12345678' }]);
