// A service on a store that it shares with others. Its orders: which store, where, and its own limit. It answers with the
// events that it has emitted when it is ready, and again before it ends.
import { accountId, createLimiter, type LimiterEvent, type Store } from '@sluice/core';
import { hostStore } from '@sluice/host';
import { postgresStore } from '@sluice/postgres';
import { leasedStore, redisStore } from '@sluice/redis';
import { Cluster } from 'ioredis';

/** What a service is told. */
export interface ServiceOrders {
  readonly kind: 'redis' | 'cluster' | 'leased' | 'postgres' | 'host';
  /** A URL, the ports of a cluster, or the path of a socket. */
  readonly at: string;
  /** The `prefix`, or the `table`. */
  readonly own?: string;
  readonly count: number;
}

const STORES: Readonly<Record<ServiceOrders['kind'], (at: string, own: string | undefined) => Store>> = {
  redis: (at, own) => redisStore({ url: at, log: false, ...prefixed(own) }),
  leased: (at, own) => leasedStore({ url: at, gateways: 2, log: false, ...prefixed(own) }),
  cluster(at, own) {
    const nodes = at.split(',').map((port) => ({ host: '127.0.0.1', port: Number(port) }));
    return redisStore({ client: new Cluster(nodes, { lazyConnect: true }), log: false, ...prefixed(own) });
  },
  postgres: (at, own) => postgresStore({ connectionString: at, ...(own !== undefined && { table: own }) }),
  host: (at) => hostStore({ socket: at, log: false }),
};

function prefixed(own: string | undefined): { readonly prefix?: string } {
  return own === undefined ? {} : { prefix: own };
}

const orders = JSON.parse(process.argv[2]!) as ServiceOrders;
const events: LimiterEvent[] = [];
const limiter = createLimiter({
  limits: { Requests: { key: accountId(), count: orders.count, period: '1h' } },
  store: STORES[orders.kind](orders.at, orders.own),
  failure: { deadlineMs: 20_000 },
  log: false,
  onEvent: (event) => events.push(event),
});
await limiter.ready({ timeoutMs: 20_000 });
process.once('message', () => {
  void limiter.close({ store: true }).then(() => process.exit());
});
process.send?.(events);
