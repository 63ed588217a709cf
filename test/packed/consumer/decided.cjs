const { mkdtempSync, readFileSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

/**
 * Decides on a memory store, on a store of the host, on Redis and on PostgreSQL, by limits of a text that is large enough for a thread of its own.
 *
 * @param {{ core: typeof import('@sluice/core'), testing: typeof import('@sluice/core/testing'), config: typeof import('@sluice/config'), domains: typeof import('@sluice/domains'), redis: typeof import('@sluice/redis'), host: typeof import('@sluice/host'), postgres: typeof import('@sluice/postgres') }} packages
 * @param {{ redisUrl: string, postgresUrl: string }} urls
 */
async function decided({ core, testing, config, domains, redis, host, postgres }, { redisUrl, postgresUrl }) {
  const text = `${readFileSync('limits.yaml', 'utf8')}${'# a comment\n'.repeat(1000)}`;
  const loaded = await config.loadLimits({ defaults: () => text, keys: { Orders: core.accountId() } });
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-'));
  const stores = {
    memory: core.memoryStore({ time: new testing.FakeTime() }),
    host: host.hostStore({ socket: path.join(folder, 'limits.sock'), log: false }),
    redis: redis.redisStore({ url: redisUrl, log: false }),
    postgres: postgres.postgresStore({ connectionString: postgresUrl }),
  };
  const outcomes = {
    memory: await outcomeOn(stores.memory),
    host: await outcomeOn(stores.host),
    redis: await outcomeOn(stores.redis),
    postgres: await outcomeOn(stores.postgres),
  };
  rmSync(folder, { recursive: true });
  return {
    outcomes,
    fromFiles: { Orders: loaded.limits.Orders?.count },
    domain: domains.registrableDomain('www.example.co.uk'),
  };

  /** @param {import('@sluice/core').Store} store */
  async function outcomeOn(store) {
    const limiter = core.createLimiter({ limits: loaded.limits, store, log: false, failure: { onFailure: 'closed' } });
    const orders = [{ limit: 'Orders', id: '7', cost: 1 }];
    const deadlineMs = Date.now() + 10_000;
    for (;;) {
      const { outcome } = await limiter.spend(orders);
      if (outcome !== 'unavailable' || Date.now() > deadlineMs) {
        await store.close();
        return outcome;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

module.exports = { decided };
