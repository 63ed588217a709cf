import { Cluster, type Redis } from 'ioredis';
import type { Call } from '../console/command.ts';
import { clientOf, type Client } from '../redis/client.ts';
import { storeAddressOf } from '../redis/open-store.ts';
import { keyOptionsOf, timeoutOf } from '../redis/options.ts';
import { clock } from './clocks.ts';
import { Check, type Examined, type Finding } from './finding.ts';
import { foreignKeys } from './foreign-keys.ts';
import { permissions } from './permissions.ts';
import { slots } from './slots.ts';
import { SERVER_CHECKS } from './server-checks.ts';
import { ofStore } from './store.ts';
import { infoOf } from './server-info.ts';

/** Connects as a server with these options does, and looks for what would fail later. It changes nothing. */
export async function examine(call: Call, deadlineMs: number): Promise<readonly Examined[]> {
  const address = storeAddressOf(call);
  if (address?.startsWith('host:') === true) {
    const { examineHost } = await import('./host-socket.ts');
    return examineHost(call, address.slice('host:'.length), deadlineMs);
  }
  if (address?.startsWith('serve:') === true) {
    const { examineService } = await import('./service.ts');
    return examineService(call, address.slice('serve:'.length), deadlineMs);
  }
  if (address !== undefined && /^postgres(?:ql)?:/.test(address)) {
    const { examinePostgres } = await import('./postgres.ts');
    return examinePostgres(call, address, deadlineMs);
  }
  return examineRedis(call, address, deadlineMs);
}

async function examineRedis(call: Call, address: string | undefined, deadlineMs: number): Promise<readonly Examined[]> {
  const keyOptions = await keyOptionsOf(call);
  // It must not wait for a server that still loads its data: a check reports that.
  const client = clientOf(call, address, { enableReadyCheck: false });
  const { prefix = 'sluice:' } = keyOptions;
  try {
    const store = await ofStore(call, deadlineMs);
    if (!(await isConnected(client, call))) return [{ findings: store }];
    const keys = await foreignKeys(client, prefix, call.console.time);
    const nodes = client instanceof Cluster ? client.nodes('master') : [client];
    const servers = await Promise.all(
      nodes.map((node) => ofServer(node, { call, prefix, isCluster: node !== client })),
    );
    return [{ findings: [...store, keys] }, ...servers];
  } finally {
    client.disconnect();
  }
}

// Without a limit, a client would try for ever to find a primary, or to agree on TLS.
function isConnected(client: Client, call: Call): Promise<boolean> {
  return new Promise((resolve) => {
    const alarm = call.console.time.alarm(timeoutOf(call), () => resolve(false));
    const end = (isConnectedNow: boolean): void => {
      alarm.cancel();
      resolve(isConnectedNow);
    };
    client.connect().then(
      () => end(true),
      () => end(false),
    );
  });
}

interface Visit {
  readonly call: Call;
  readonly prefix: string;
  readonly isCluster: boolean;
}

async function ofServer(node: Redis, { call, prefix, isCluster }: Visit): Promise<Examined> {
  const findings = [
    ...(await ofInfo(node, isCluster)),
    ...(isCluster ? [await slots(node)] : []),
    await permissions(node, prefix, isCluster),
    await clock(node, call.console.time),
  ];
  return { server: nameOf(node), findings };
}

// With Sentinels, the options contain no address.
function nameOf({ options: { host, port, sentinels, name } }: Redis): string {
  return sentinels ? `the primary of ${name}` : `${host}:${port}`;
}

async function ofInfo(node: Redis, isCluster: boolean): Promise<readonly Finding[]> {
  const info = await infoOf(node);
  if (typeof info !== 'string') return SERVER_CHECKS.map((check) => check(info, isCluster));
  return [new Check('server').wrong(`it does not answer INFO: ${info}`, 'Give the user +info.')];
}
