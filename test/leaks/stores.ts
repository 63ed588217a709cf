import { folder } from '../host/socket-path.ts';
import { HostProcess } from '../host/host-process.ts';
import { ownPostgresServer } from '../postgres/postgres-server.ts';
import { realDelay } from '../real-delay.ts';
import { redisServer } from '../redis/servers/redis-server.ts';

/** What a store is built on, and how it fails for a while. */
export interface Base {
  /** The arguments of the server's program, after the name of the store. */
  readonly args: readonly string[];
  readonly outage: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Longer than the deadline of calls. */
const OUTAGE_MS = 300;

export const BASES: Readonly<Record<string, () => Promise<Base>>> = {
  memory: () => Promise.resolve({ args: [], outage: () => Promise.resolve(), close: () => Promise.resolve() }),
  host,
  redis,
  postgres,
};

/** The process that serves is stopped, and killed. */
async function host(): Promise<Base> {
  const paths = folder();
  const socket = paths.newSocket();
  let serving = new HostProcess();
  await serving.open(socket);
  return {
    args: [socket],
    outage: async () => {
      serving.freeze();
      await realDelay(OUTAGE_MS);
      serving.thaw();
      await serving.kill();
      serving = new HostProcess();
      await serving.open(socket);
    },
    close: async () => {
      await serving.kill();
      paths.delete();
    },
  };
}

/** The server is stopped, and killed and started again. */
async function redis(): Promise<Base> {
  const server = await redisServer();
  return {
    args: [server.url],
    outage: async () => {
      server.freeze();
      await realDelay(OUTAGE_MS);
      server.thaw();
      await server.kill();
      await realDelay(OUTAGE_MS);
      await server.start();
    },
    close: () => server.kill(),
  };
}

async function postgres(): Promise<Base> {
  const server = await ownPostgresServer();
  return {
    args: [server.url, server.newTable()],
    outage: async () => {
      server.freeze();
      await realDelay(OUTAGE_MS);
      server.thaw();
      await server.stop('SIGQUIT');
      await realDelay(OUTAGE_MS);
      await server.start();
    },
    close: () => server.close(),
  };
}
