// The room serve: `sluice serve`: its settings, its store, one process or several.
import { openService, startMetrics, type ServerAddresses, type Servers } from '@sluice/serve';
import cluster from 'node:cluster';
import type { Call } from '../console/command.ts';
import { listeningAt } from './listening.ts';
import { fileOptions, startProcess, stopProcess } from './one-process.ts';
import { serveSettings, type ServeSettings } from './options.ts';
import { Workers } from './primary.ts';
import { answerPrimary } from './worker.ts';

/** Serves until SIGTERM or Ctrl-C, and then until all requests that are there are answered. */
export async function serveCall(call: Call): Promise<void> {
  const settings = serveSettings(call);
  if (cluster.isWorker) return serveAsWorker(call, settings);
  return settings.processes > 1 ? serveByWorkers(call, settings) : serveAlone(call, settings);
}

async function serveAlone(call: Call, settings: ServeSettings): Promise<void> {
  const running = await startProcess(call, settings);
  const { http, grpc, metrics } = running.servers.ports;
  tell(call, settings.addresses, { http, grpc, metrics });
  await ended(call);
  await stopProcess(running, settings);
}

async function serveAsWorker(call: Call, settings: ServeSettings): Promise<void> {
  const running = await startProcess(call, { ...settings, addresses: { ...settings.addresses, metrics: undefined } });
  const { http, grpc } = running.servers.ports;
  answerPrimary({ http, grpc }, { metrics: () => running.service.metrics(), operate: running.answer });
  await ended(call);
  await stopProcess(running, settings);
  cluster.worker?.disconnect();
}

async function serveByWorkers(call: Call, settings: ServeSettings): Promise<void> {
  const workers = new Workers(call.console, settings);
  await workers.start();
  const { addresses, operator } = settings;
  const asked = operator && { ...operator, answer: (request: unknown) => workers.operate(request) };
  const metrics = addresses.metrics && (await startMetrics(addresses.metrics, () => workers.metrics(), asked));
  tell(call, addresses, { ...workers.ports, metrics: metrics?.ports.metrics });
  await ended(call);
  await Promise.all([workers.stop(), metrics?.close(0)]);
}

/** Says where the service listens, when it does. */
function tell(call: Call, addresses: ServerAddresses, ports: Partial<Servers['ports']>): void {
  const all = listeningAt(addresses, ports);
  call.console.result({ listening: Object.fromEntries(all) }, () =>
    all.map(([name, address]) => `${name} listens on ${address}`),
  );
}

function ended({ console }: Call): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    void console.interruption.then(() => resolve());
  });
}

/** Prints which fields of a proxy's request each table reads, and listens nowhere. */
export async function printFields(call: Call): Promise<void> {
  const service = await openService({ ...(await fileOptions(call)), everyMs: false });
  const fields = [...service.fieldsRead];
  await service.close();
  call.console.result({ fields: Object.fromEntries(fields) }, () =>
    fields.map(([name, read]) => `/check/${name}: ${read.join(' ') || 'none'}`),
  );
}
