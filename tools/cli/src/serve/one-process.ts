import { memoryStore, type Store } from '@sluice/core';
import { leasedStore, redisStore } from '@sluice/redis';
import type { OperatorAnswer, ServiceOptions } from '@sluice/serve';
import { openService, startServers, type Servers, type Service } from '@sluice/serve';
import type { Call } from '../console/command.ts';
import { moreFormats } from '../limits/files.ts';
import { checkFiles, sourceOf } from '../limits/sources.ts';
import { clientOf } from '../redis/client.ts';
import { keyOptionsOf } from '../redis/options.ts';
import { RecordLog } from '../redis/record-log.ts';
import type { ServeSettings } from './options.ts';

/** A service that listens. */
export interface Running {
  readonly service: Service;
  readonly servers: Servers;
  /** Answers the call of an operator. */
  readonly answer: (request: unknown) => Promise<OperatorAnswer>;
}

/** Opens the service of a call in this process. */
export async function startProcess(call: Call, settings: ServeSettings): Promise<Running> {
  const { store = memoryStore(), ...options } = await serviceOptions(call, settings);
  const service = await openService({ ...options, store });
  const answer = async (request: unknown): Promise<OperatorAnswer> => {
    const { operate } = await import('./operator.ts');
    const records = settings.hasRedis ? () => new RecordLog(call) : undefined;
    return operate(request, { service, store, records, log: (line) => call.console.line(line) });
  };
  try {
    const { addresses, operator } = settings;
    const asked = operator && addresses.metrics && { ...operator, answer };
    return { service, answer, servers: await startServers(service, addresses, { operator: asked }) };
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** Answers the requests that are there, and ends. */
export async function stopProcess({ service, servers }: Running, { drainMs }: ServeSettings): Promise<void> {
  await servers.close(drainMs);
  await service.close();
}

async function serviceOptions(call: Call, settings: ServeSettings): Promise<ServiceOptions> {
  const trusted = call.texts('trust');
  const store = await storeOf(call, settings);
  return {
    ...(await fileOptions(call)),
    ...(store !== undefined && { store }),
    ...(trusted.length > 0 && { trustedProxies: trusted }),
    failure: settings.failure,
    log: (line) => call.console.line(line),
  };
}

/** Returns the store of a service; undefined for the memory of its process. */
async function storeOf(call: Call, { hasRedis, leases, failure }: ServeSettings): Promise<Store | undefined> {
  if (!hasRedis) return undefined;
  const keys = await keyOptionsOf(call);
  const log = (line: string): void => call.console.line(line);
  const client = clientOf(call);
  return leases
    ? leasedStore({ client, ...keys, gateways: failure.gateways, log })
    : redisStore({ client, ...keys, log });
}

/** The files of a call, and how they are read. */
export async function fileOptions(call: Call): Promise<ServiceOptions> {
  const { args, console } = call;
  const [limits = '', tables = '', overrides] = args;
  await checkFiles(args);
  const header = call.text('addressHeader');
  return {
    limits: sourceOf(limits, console.terminal),
    tables: sourceOf(tables, console.terminal),
    ...(overrides !== undefined && { overrides: sourceOf(overrides, console.terminal) }),
    formats: moreFormats(),
    ...(header !== undefined && { addressHeader: header }),
  };
}
