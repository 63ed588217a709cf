import type { Time } from '@sluice/core';
import { textOfMetrics } from '@sluice/core/metrics';
import { FakeTime } from '@sluice/core/testing';
import { onTestFinished } from 'vitest';
import {
  openService,
  startServers,
  type Service,
  type ServiceEvent,
  type ServiceOptions,
  type Servers,
} from '@sluice/serve';

/** A service whose servers listen on free ports of the loopback. */
export interface Served {
  readonly service: Service;
  readonly servers: Servers;
  readonly time: FakeTime;
  readonly events: ServiceEvent[];
}

/**
 * Serves texts or data of limits and tables until the test ends. Files and stores are closed then.
 *
 * @param of - The clock of the servers, where hours pass in a moment: an idle client does not answer in it. Default: that of the
 * service.
 */
export async function served(
  limits: unknown,
  tables: unknown,
  options: Partial<ServiceOptions> = {},
  of: { readonly servers?: Time } = {},
): Promise<Served> {
  const time = new FakeTime(Date.UTC(2026, 10, 24, 12));
  const events: ServiceEvent[] = [];
  const service = await openService({
    limits: () => limits,
    tables: () => tables,
    everyMs: false,
    log: false,
    time,
    onEvent: (event) => events.push(event),
    ...options,
  });
  const loopback = { host: '127.0.0.1', port: 0 };
  const servers = await startServers(
    service,
    { http: loopback, grpc: loopback, metrics: loopback },
    { time: of.servers ?? time },
  );
  onTestFinished(async () => {
    const closed = servers.close(1);
    time.advance(1);
    await closed;
    await service.close();
  });
  return { service, servers, time, events };
}

/** The lines that Prometheus would read. */
export function metricLines(service: Service): readonly string[] {
  return textOfMetrics(service.metrics()).split('\n');
}
