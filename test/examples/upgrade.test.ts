import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ExampleServer } from './example-server.ts';

let server: ExampleServer;

beforeAll(async () => {
  server = await ExampleServer.start('upgrade');
});
afterAll(() => server.stop());

it('denies more handshakes than the burst with a 429 and Retry-After', async () => {
  const answers = [];
  for (let i = 0; i < 5; i++) answers.push(await handshake());
  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(statuses.slice(0, 3)).toEqual([101, 101, 101]);
  expect(statuses).toContain(429);
  expect(answers[statuses.indexOf(429)]?.headers).toMatchObject({
    'retry-after': '1',
    'content-type': 'application/problem+json',
    connection: 'close',
  });
});

async function handshake(): Promise<IncomingMessage> {
  const asked = request(server.url, {
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'c2l4dGVlbiBieXRlcyBvaw==',
    },
  }).end();
  const [answer] = (await Promise.race([once(asked, 'upgrade'), once(asked, 'response')])) as [IncomingMessage];
  answer.resume();
  return answer;
}
