import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { expect, it } from 'vitest';
import { ExampleServer } from './example-server.ts';

const examples = new URL('../../examples/', import.meta.url);

/** The examples in one of whose files a path ends in `/login`. */
const withLogin = readdirSync(examples, { withFileTypes: true })
  .filter((folder) => folder.isDirectory() && sourcesOf(folder.name).some((source) => /\/login['"`]/.test(source)))
  .map(({ name }) => name);

it.each(withLogin)('examples/%s checks five of 200 passwords that are guessed at once', async (folder) => {
  const server = await ExampleServer.start(folder);
  const statuses = await Promise.all(Array.from({ length: 200 }, (_, i) => guess(server, i)));
  await server.stop();
  expect(statuses.filter((status) => status === 401)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(195);
});

it.each(withLogin)('examples/%s refuses names that are not texts, so that none is without a limit', async (folder) => {
  const server = await ExampleServer.start(folder);
  const names = [['alice'], { name: 'alice' }, 1, null, ''];
  const statuses = await Promise.all(names.map((name, i) => guess(server, i, name)));
  await server.stop();
  expect(statuses).toEqual(names.map(() => 400));
});

it('examples have a login', () => {
  expect(withLogin).toEqual(['express', 'fastify', 'koa']);
});

/** Each guess comes from an address of its own, so that no limit per address protects the name. */
function guess(
  { port }: ExampleServer,
  i: number,
  name: unknown = i % 2 === 0 ? 'alice' : 'ALICE',
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json' };
    const to = { port, path: '/login', method: 'POST', headers, agent: false, localAddress: `127.0.1.${i + 1}` };
    const asked = request(to, (response) => resolve(response.resume().statusCode));
    asked.on('error', reject).end(JSON.stringify({ name, password: `guess ${i}` }));
  });
}

function sourcesOf(folder: string): string[] {
  const files = readdirSync(new URL(`${folder}/`, examples), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.js') && !file.startsWith('node_modules'))
    .map((file) => readFileSync(new URL(`${folder}/${file}`, examples), 'utf8'));
}
