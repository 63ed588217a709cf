import { readdirSync, readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { ExampleServer } from './example-server.ts';

const examples = new URL('../../examples/', import.meta.url);

/** Those that need no other server. */
const servers = readdirSync(examples, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^[^/]+\/server\.js$/.test(path))
  .map((path) => path.slice(0, -'/server.js'.length))
  .filter((folder) => !usesRedis(folder));

it.each(servers)('the example %s starts, answers, and ends on SIGTERM', async (folder) => {
  const server = await ExampleServer.start(folder);
  onTestFinished(() => void server.stop());
  const { status } = await fetch(server.url);
  expect(status).toBeLessThan(500);
  expect(await server.stop()).toBe(0);
});

function usesRedis(folder: string): boolean {
  const names = readdirSync(new URL(`${folder}/`, examples)).filter((name) => name.endsWith('.js'));
  return names.some((name) => readFileSync(new URL(`${folder}/${name}`, examples), 'utf8').includes('@sluice/redis'));
}
