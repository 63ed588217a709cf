import { afterEach, beforeEach, expect, it } from 'vitest';
import { curlCommands, run, runsInto } from './curl-commands.ts';
import { ExampleServer } from './example-server.ts';

let server: ExampleServer;

// A server for each test: a test then starts with full buckets.
beforeEach(async () => {
  server = await ExampleServer.start('hono');
});
afterEach(() => server.stop());

it('prints commands that show what they announce when they are pasted in a row', async () => {
  const commands = curlCommands(server.output);
  const [one, reports, flood] = commands;
  expect(commands).toHaveLength(3);
  expect(await run(one!)).toEqual([200]);
  expect(await run(reports!)).toEqual([200, 200, 429]);
  await runsInto(flood!, { burst: 20, perSecond: 5 });
});

it('decides the limits of the client and of the account together, and limits what no route answers', async () => {
  const fieldsOf = async (path: string, headers: Record<string, string> = {}) => {
    const { status, headers: fields } = await fetch(`${server.url}${path}`, { headers });
    return `${status} ${fields.get('RateLimit')}`;
  };
  expect(await fieldsOf('/report', { 'X-API-Key': 'alice-key' })).toBe(
    '200 "RequestsPerClient";r=19;t=1, "WorkPerAccount";r=12;t=1',
  );
  expect(await fieldsOf('/orders')).toMatch(/^401 "RequestsPerClient";r=1[89];t=1$/);
  expect(await fieldsOf('/nowhere')).toMatch(/^404 "RequestsPerClient";r=1[789];t=1$/);
});
