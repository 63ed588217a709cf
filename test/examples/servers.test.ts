import { once } from 'node:events';
import { Agent } from 'node:http';
import request, { type Response, type Test } from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { curlCommands, run, runsInto } from './curl-commands.ts';
import { ExampleServer, runExample } from './example-server.ts';
import { realDelay } from '../real-delay.ts';

const alice = { Authorization: 'Bearer alice-token' };
const bob = { Authorization: 'Bearer bob-token' };

let server: ExampleServer;
/** Connects from an address that no other test has. */
let agent: Agent;
let tests = 0;
const get = (path: string, headers: Record<string, string> = {}): Test =>
  request(server.url).get(path).agent(agent).set(headers);
const login = (name: string, password: string): Test =>
  request(server.url).post('/login').agent(agent).send({ name, password });

/** Requests one after the other, until one is refused. */
async function untilRefused(ask: () => Test): Promise<{ passed: number; refusal: Response }> {
  for (let passed = 0; passed < 100; passed++) {
    const response = await ask();
    if (response.status === 429) return { passed, refusal: response };
  }
  throw new Error('no request was denied');
}

describe.each(['express', 'koa', 'fastify'])('examples/%s', (folder) => {
  beforeAll(async () => {
    server = await ExampleServer.start(folder);
  });
  afterAll(() => server.stop());
  // A client for each test: a test then starts with a full bucket of its address.
  beforeEach(() => {
    agent = new Agent({ localAddress: `127.0.1.${++tests}` });
  });

  it('reports its limits to a client', async () => {
    const { status, headers } = await get('/');
    expect(status).toBe(200);
    expect(headers['ratelimit-policy']).toBe('"RequestsPerIPAddress";q=20;w=4');
    expect(headers['ratelimit']).toBe('"RequestsPerIPAddress";r=19;t=1');
  });

  it('denies more than the burst with problem details, and lets a client pass that waited exactly Retry-After', async () => {
    const { passed, refusal } = await untilRefused(() => get('/'));
    expect(passed).toBeGreaterThanOrEqual(20);
    expect(refusal.get('Retry-After')).toBe('1');
    expect(refusal.get('Content-Type')).toMatch('application/problem+json');
    expect(refusal.body).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too many requests',
      status: 429,
      detail: 'Rate limit "RequestsPerIPAddress" exceeded. Try again in 1 second.',
      'violated-policies': ['RequestsPerIPAddress'],
    });

    await realDelay(1000);
    expect((await get('/')).status).toBe(200);
  });

  it('limits what no route answers', async () => {
    const { status, headers } = await get('/nowhere');
    expect(status).toBe(404);
    expect(headers['ratelimit']).toBe('"RequestsPerIPAddress";r=19;t=1');
  });

  it('decides the limits of the address and of the account together', async () => {
    expect((await get('/orders', bob)).get('RateLimit')).toBe(
      '"RequestsPerIPAddress";r=19;t=1, "WorkPerAccount";r=19;t=1',
    );
    // A visitor without an account has no limit per account.
    const anonymous = await get('/orders');
    expect(anonymous.status).toBe(401);
    expect(anonymous.get('RateLimit')).toMatch(/^"RequestsPerIPAddress";r=1[89];t=1$/);
  });

  it('takes 8 tokens for an expensive route, and nothing from the address when the account is denied', async () => {
    const left = async (path: string, headers: Record<string, string>): Promise<number[]> => {
      const field = (await get(path, headers)).get('RateLimit');
      return [...field!.matchAll(/;r=(\d+)/g)].map(([, remaining]) => Number(remaining));
    };
    expect(await left('/report', alice)).toEqual([19, 12]);
    // The address gets a token back every 200 ms, and the account one every 500 ms.
    const [, second] = await left('/report', alice);
    expect(second).toBeGreaterThanOrEqual(4);
    expect(second).toBeLessThan(12);

    const refusals = [];
    for (let i = 0; i < 12; i++) refusals.push(await get('/report', alice));
    const denied = refusals.filter(({ status }) => status === 429);
    expect(denied.length).toBeGreaterThan(6);
    expect(denied[0]!.body).toMatchObject({ 'violated-policies': ['WorkPerAccount'] });
    expect(['1', '2']).toContain(denied[0]!.get('Retry-After'));

    // Had the denied requests taken tokens, hardly any would be left.
    const [ofAddress] = await left('/report', bob);
    expect(ofAddress).toBeGreaterThanOrEqual(10);
  });

  it('counts failed logins only, by name', async () => {
    for (let i = 0; i < 6; i++) expect((await login('alice', 'open sesame')).status).toBe(200);
    for (let i = 0; i < 5; i++) expect((await login('alice', 'guess')).status).toBe(401);

    const refusal = await login('ALICE', 'open sesame');
    expect(refusal.status).toBe(429);
    expect(Number(refusal.get('Retry-After'))).toBeGreaterThan(4300);
    expect(refusal.body).toMatchObject({ 'violated-policies': ['FailedLoginsPerName'] });
    expect((await login('bob', 'guess')).status).toBe(401);
  });

  it('prints commands that show what they announce when they are pasted in a row', async () => {
    // With full buckets of all accounts.
    const fresh = await ExampleServer.start(folder);
    const commands = curlCommands(fresh.output);
    const [one, reports, logins, flood] = commands;
    expect(commands).toHaveLength(4);
    expect(await run(one!)).toEqual([200]);
    expect(await run(reports!)).toEqual([200, 200, 429]);
    expect(await run(logins!)).toEqual([401, 401, 401, 401, 401, 429]);
    await runsInto(flood!, { burst: 20, perSecond: 5 });
    await fresh.stop();
  });

  it('listens on the address that it prints, and on no other', async () => {
    const { hostname, port } = new URL(server.url);
    expect(hostname).toBe('127.0.0.1');
    await expect(request(`http://127.0.0.2:${port}`).get('/')).rejects.toThrow('ECONNREFUSED');
  });

  it('names the remedy when its port is in use', async () => {
    const second = runExample(folder, { port: server.port });
    let told = '';
    second.stderr?.on('data', (chunk) => (told += String(chunk)));
    expect(await once(second, 'close')).toEqual([1, null]);
    expect(told).toMatch(/EADDRINUSE.*PORT=3001/);
  });

  it('ends on SIGTERM', async () => {
    expect((await get('/')).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });
});
