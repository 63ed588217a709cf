/**
 * A service that decides for proxies: Envoy by its rate limit service (RLS), nginx, Caddy, HAProxy and Traefik by HTTP.
 *
 * {@link openService} reads the files of limits and of tables; {@link startServers} listens. The command `sluice serve`
 * does both.
 *
 * @module
 */
export { listenAddress, type ListenAddress } from './service/address.ts';
export type { ServiceEvent } from './metrics/event.ts';
export type { ServiceOptions } from './service/options.ts';
export type { OperatorAnswer, OperatorSettings } from './service/operator.ts';
export { openService, type Service } from './service/service.ts';
export {
  removeStaleSocket,
  startMetrics,
  startServers,
  type ServerAddresses,
  type Servers,
  type ServerSettings,
} from './service/servers.ts';
export { checkTableFiles, type CheckTableOptions } from './service/check-table-files.ts';
export { TABLES_SCHEMA } from './tables/schema.ts';
