import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ExampleServer } from './example-server.ts';

const servers = ['express'];

describe.each(servers)('examples/%s', (folder) => {
  let server: ExampleServer;
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(server.url + path, { headers });
  const login = (name: string, password: string): Promise<Response> =>
    fetch(`${server.url}/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name, password }),
    });
  const alice = { Authorization: 'Bearer alice-token' };
  const bob = { Authorization: 'Bearer bob-token' };
  /** The burst of RequestsPerIPAddress comes back in 4 s. */
  const fullAgain = (): Promise<void> => sleep(4000);

  beforeAll(async () => {
    server = await ExampleServer.start(folder);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  it('tells each client its limits, whatever the cost', async () => {
    const { status, headers } = await get('/');
    expect(status).toBe(200);
    expect(headers.get('RateLimit-Policy')).toBe('"RequestsPerIPAddress";q=20;w=4');
    expect(headers.get('RateLimit')).toMatch(/^"RequestsPerIPAddress";r=\d+;t=1$/);
  });
});
