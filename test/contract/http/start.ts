import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { ask, type Answer, type Ask } from './client.ts';
import type { Framework, Plan } from './framework.ts';

/** A served application. */
export interface App {
  readonly port: number;
  /** What reached the framework's error handler. */
  readonly errors: unknown[];
  /** Asks for a path; `/` unless given. */
  get(path?: string, options?: Ask): Promise<Answer>;
  /** Asks so many times, one after the other, and gives the statuses. */
  statuses(times: number, path?: string, options?: Ask): Promise<number[]>;
}

/** Serves an application on a free port until the test is over. Unless the plan has routes, `/` answers 200. */
export async function start(framework: Framework, { routes = { '/': {} }, onError, ...plan }: Plan): Promise<App> {
  const errors: unknown[] = [];
  const server = await framework.serve({
    ...plan,
    routes,
    onError: (error) => {
      errors.push(error);
      onError?.(error);
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  const get: App['get'] = (path = '/', options) => ask(`http://127.0.0.1:${port}${path}`, options);
  return {
    port,
    errors,
    get,
    async statuses(times, path, options) {
      const statuses: number[] = [];
      for (let i = 0; i < times; i++) statuses.push((await get(path, options)).status);
      return statuses;
    },
  };
}
