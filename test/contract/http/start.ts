import type { AddressInfo, Server, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { ask, http1Client, http2Client, type Answer, type Ask, type Visit } from './client.ts';
import type { Framework, Plan } from './framework.ts';

/** A served application. */
export interface App {
  readonly server: Server;
  readonly port: number;
  /** What reached the framework's error handler. */
  readonly errors: unknown[];
  /** Asks for a path; `/` unless given. */
  get(path?: string, options?: Ask): Promise<Answer>;
  /** Asks for a path as {@link get} does, as a client that may leave before the answer. */
  visit(path?: string, options?: Ask): Visit;
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
  closeWhenFinished(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const isHttp2 = framework.protocol === 'HTTP/2';
  const client = isHttp2 ? http2Client : http1Client;
  const visit: App['visit'] = (path = '/', options) => client(`http://127.0.0.1:${port}${path}`, options);
  const get: App['get'] = (path = '/', options) => (isHttp2 ? visit(path, options).answer : ask(server, path, options));
  return {
    server,
    port,
    errors,
    get,
    visit,
    async statuses(times, path, options) {
      const statuses: number[] = [];
      for (let i = 0; i < times; i++) statuses.push((await get(path, options)).status);
      return statuses;
    },
  };
}

function closeWhenFinished(server: Server): void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
}
