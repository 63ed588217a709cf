import { once } from 'node:events';
import request, { type Response } from 'supertest';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sized } from '../sized.ts';
import { ExampleServer, runExample } from './example-server.ts';

let server: ExampleServer;

beforeEach(async () => {
  server = await ExampleServer.start('overload', 'server.js', { PRETEND: '1', WORK_MS: '0' });
});
afterEach(() => server.stop());

const from = async (client: string, method: 'get' | 'post', path: string): Promise<Response> =>
  await request(server.url)[method](path).set('X-Api-Key', client);
const switched = async (query: string): Promise<Response> => await request(server.url).post(`/switches?${query}`);
const level = async (): Promise<number> => (await request(server.url).get('/health')).body.level;

/** The answers to one request of each of forty clients. */
async function ofClients(method: 'get' | 'post', path: string): Promise<Response[]> {
  const answers = [];
  for (let i = 0; i < 40; i++) answers.push(await from(`client-${i}`, method, path));
  return answers;
}

const denied = (answers: readonly Response[]): Response[] => answers.filter(({ status }) => status === 503);

/** Pretends a load until the level is reached, and then one at which it stays. */
async function raiseLevel(atLeast: number): Promise<void> {
  for (const path of ['/items', '/report']) await from('client-0', 'get', path);
  await switched('pretended=1');
  await expect.poll(level, { interval: 20 }).toBeGreaterThanOrEqual(atLeast);
  await switched('pretended=0.75');
}

describe('a server with too much to do', () => {
  it('sheds reports and items before checkouts, and answers health checks', async () => {
    await raiseLevel(0.6);
    const reports = await ofClients('get', '/report');
    expect(denied(reports)).toHaveLength(40);
    expect(denied(await ofClients('get', '/items')).length).toBeGreaterThan(20);
    expect(denied(await ofClients('post', '/checkout'))).toEqual([]);
    expect((await request(server.url).get('/health')).status).toBe(200);
  });

  it('answers what it sheds with a 503, and with a time to retry within a minute', async () => {
    await raiseLevel(0.4);
    const [shed] = denied(await ofClients('get', '/report'));
    expect(shed?.body).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      status: 503,
    });
    expect(Number(shed?.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    expect(Number(shed?.get('Retry-After'))).toBeLessThanOrEqual(62);
  });

  it('sheds nothing from the next reading on when the kill switch is off', async () => {
    await raiseLevel(0.4);
    await switched('shedding=off');
    await expect.poll(level).toBe(0);
    expect(denied(await ofClients('get', '/report'))).toEqual([]);
  });
});

it('a client has ten requests in progress, and further ones are denied with 429', async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => from('client-1', 'get', '/slow')));
  const passed = answers.filter(({ status }) => status === 200);
  expect(passed.length).toBeGreaterThanOrEqual(10);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body['violated-policies']).toEqual(['InFlight']);
});

it('a key that is not known gets 401, and all such requests are those of one client', async () => {
  expect((await from('client-1000', 'get', '/items')).status).toBe(401);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => from(`invented-${i}`, 'get', '/slow')));
  expect(new Set(answers.map(({ status }) => status)).has(200)).toBe(false);
});

it('the load script prints a row for each rate, with and without the load limit', async () => {
  const rates = ['3', '0.5', '1', '2'].slice(0, sized(1, 4));
  const env = { SECONDS: '0.4', RATES: rates.join(',') };
  const script = runExample('overload', { file: 'load.mjs', port: 0, env });
  let output = '';
  script.stdout?.on('data', (chunk) => (output += String(chunk)));
  expect(await once(script, 'close')).toEqual([0, null]);
  expect(output).toMatch(/^Capacity: [1-9]\d* requests a second/);
  expect(output.match(/^ +[0-9.]+ x +(on|off) .* of \d+ .*$/gm)).toHaveLength(2 * rates.length);
});
