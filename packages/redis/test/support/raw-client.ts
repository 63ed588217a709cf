import { Redis } from 'ioredis';
import { running } from '../../../../test/redis/servers/running.ts';

/** Returns what a command of a client with nothing of this package in it is rejected with. */
export type Refusal = (command: string, ...args: readonly (string | number)[]) => Promise<Error>;

interface Login {
  readonly username?: string;
  readonly password?: string;
}

/** Connects a client to a port, which ends with the test. */
export function rawClient(port: number, login: Login = {}): Refusal {
  const redis = new Redis({
    port,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    ...login,
  });
  let failed: Error | undefined;
  redis.on('error', (error: Error) => (failed ??= error));
  running.add({ close: async () => redis.disconnect() });
  return async (command, ...args) => {
    try {
      await redis.call(command, ...args);
    } catch (error) {
      // What it was refused with when it connected explains more.
      return failed ?? (error as Error);
    }
    throw new Error(`${command} was expected to be refused, and was not.`);
  };
}
