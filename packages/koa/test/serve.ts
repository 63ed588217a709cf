import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import type { RateLimitOptions } from '@sluice/koa';
import Koa from 'koa';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export const inline = (options: object = {}): RateLimitOptions => ({
  name: 'Requests',
  count: 1,
  period: '1m',
  store: memoryStore({ time: new FakeTime() }),
  ...options,
});

export async function serve(...middlewares: Koa.Middleware[]): Promise<(user?: string) => Promise<Response>> {
  return serveApp(new Koa(), ...middlewares);
}

export async function serveApp(
  app: Koa,
  ...middlewares: Koa.Middleware[]
): Promise<(user?: string) => Promise<Response>> {
  app.silent = true;
  for (const middleware of middlewares) app.use(middleware);
  const server = app.listen(0);
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  return (user) => {
    const { port } = server.address() as AddressInfo;
    return fetch(`http://127.0.0.1:${port}/`, user === undefined ? {} : { headers: { 'X-User': user } });
  };
}
