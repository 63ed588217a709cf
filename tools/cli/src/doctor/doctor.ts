import { SluiceError } from '@sluice/core';
import { Cluster, type Redis } from 'ioredis';
import type { Call } from '../console/command.ts';
import { withFlags } from '../console/failure.ts';
import { clientOf, type Client } from '../redis/client.ts';
import { withLimits } from '../redis/open-limits.ts';
import { keyOptionsOf, timeoutOf } from '../redis/options.ts';
import { clock } from './clocks.ts';
import { Check, type Finding } from './finding.ts';
import { foreignKeys } from './foreign-keys.ts';
import { permissions } from './permissions.ts';
import { LIMITS, roundTrips } from './round-trips.ts';
import { slots } from './slots.ts';
import { SERVER_CHECKS } from './server-checks.ts';
import { infoOf } from './server-info.ts';

/** All that was found on one server, or on the whole. */
export interface Examined {
  /** `host:port`; undefined for what concerns the whole. */
  readonly server?: string;
  readonly findings: readonly Finding[];
}

/** Connects as a server with these options does, and looks for what would fail later. It changes nothing. */
export async function examine(call: Call, deadlineMs: number): Promise<readonly Examined[]> {
  const keyOptions = await keyOptionsOf(call);
  // It must not wait for a server that still loads its data: a check reports that.
  const client = clientOf(call, undefined, { enableReadyCheck: false });
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

/** What the store itself can do there. */
async function ofStore(call: Call, deadlineMs: number): Promise<readonly Finding[]> {
  const check = new Check('store');
  try {
    return await withLimits(LIMITS, call, async (open) => [
      await roundTrips(open, { deadlineMs, time: call.console.time }),
      check.ok('it can decide'),
    ]);
  } catch (error) {
    if (!(error instanceof SluiceError) || error.kind !== 'store') throw error;
    return [check.wrong('it can not decide', withFlags(error.message))];
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
