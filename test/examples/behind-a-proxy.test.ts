import request from 'supertest';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ExampleServer } from './example-server.ts';

let server: ExampleServer;

beforeAll(async () => {
  server = await ExampleServer.start('behind-a-proxy');
});
afterAll(() => server.stop());

it('limits the address that the proxy saw, whatever the client writes into X-Forwarded-For', async () => {
  const answers: string[] = [];
  for (let i = 0; i < 7; i++) {
    const { status, text } = await request(server.url).get('/').set('X-Forwarded-For', `203.0.113.${i}`);
    answers.push(`${status} ${status === 200 ? text.trim() : ''}`.trim());
  }
  expect(answers.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => '200 you are 127.0.0.1'));
  expect(answers).toContain('429');
});
