import core = require('@sluice/core');
import testing = require('@sluice/core/testing');
import config = require('@sluice/config');
import domains = require('@sluice/domains');
import sluiceExpress = require('@sluice/express');
import sluiceFastify = require('@sluice/fastify');
import sluiceKoa = require('@sluice/koa');
import outgoing = require('@sluice/outgoing');
import redis = require('@sluice/redis');

export const store: core.Store = core.memoryStore({ time: new testing.FakeTime() });
export const named: unknown[] = [
  outgoing.limitedFetch,
  sluiceExpress.rateLimit,
  sluiceKoa.rateLimit,
  sluiceFastify.rateLimit,
];
export const shared: core.Store = redis.redisStore({ url: 'redis://localhost' });
export const loaded: Promise<config.LoadedLimits> = config.loadLimits({
  defaults: 'limits.yaml',
  keys: { Orders: domains.domain() },
});
