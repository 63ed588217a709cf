import core = require('@sluice/core');
import testing = require('@sluice/core/testing');
import sluiceExpress = require('@sluice/express');
import sluiceFastify = require('@sluice/fastify');
import sluiceKoa = require('@sluice/koa');

export const store: core.Store = core.memoryStore({ clock: new testing.FakeClock(0) });
export const named: unknown[] = [sluiceExpress.rateLimit, sluiceKoa.rateLimit, sluiceFastify.rateLimit];
