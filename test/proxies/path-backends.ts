import { serve } from '@hono/node-server';
import express4 from 'express4';
import express5 from 'express5';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { reservedPort } from '../redis/servers/port.ts';
import { Program } from './program.ts';

/** A backend with handlers for `/search/<one segment>`, everything in `/files`, and `/login`. All else is a 404. */
export interface PathBackend {
  readonly port: number;
  close(): unknown;
}

export const PATH_BACKENDS: Readonly<Record<string, () => Promise<PathBackend>>> = {
  async express5() {
    const app = express5();
    app.get('/search/:q', (_, res) => void res.end());
    app.get('/files/*rest', (_, res) => void res.end());
    app.get('/login', (_, res) => void res.end());
    return listening(createServer(app));
  },

  async express4() {
    const app = express4();
    app.get('/search/:q', (_, res) => void res.end());
    app.get('/files/*', (_, res) => void res.end());
    app.get('/login', (_, res) => void res.end());
    return listening(createServer(app));
  },

  async fastify() {
    // Its types know the last of these at another place only, where it is deprecated.
    const lenient = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, useSemicolonDelimiter: true };
    const app = fastify({ routerOptions: lenient });
    app.get('/search/:q', async () => '');
    app.get('/files/*', async () => '');
    app.get('/login', async () => '');
    await app.listen({ host: '127.0.0.1', port: 0 });
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
  },

  async hono() {
    const app = new Hono();
    app.get('/search/:q', (context) => context.body(null));
    app.get('/files/*', (context) => context.body(null));
    app.get('/login', (context) => context.body(null));
    return listening(serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }) as Server);
  },

  /** Without a framework: `new URL` is what the documentation of Node shows. */
  async node() {
    const answer = (path: string, res: ServerResponse): void => {
      res.statusCode = path === '/login' || /^\/(?:search|files)\/[^]/.test(path) ? 200 : 404;
      res.end();
    };
    return listening(
      createServer(({ url = '/' }, res) => {
        const path = attempted(() => new URL(url, 'http://localhost').pathname);
        answer(path === undefined ? '' : (attempted(() => decodeURIComponent(path)) ?? path), res);
      }),
    );
  },

  async python() {
    const port = await reservedPort();
    const program = await Program.start(
      'python3',
      [fileURLToPath(new URL('path-backend.py', import.meta.url)), String(port)],
      port,
    );
    return { port, close: () => program.stop('SIGKILL') };
  },
};

function attempted(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

async function listening(server: Server): Promise<PathBackend> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
