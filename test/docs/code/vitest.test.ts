import { FakeTime } from '@sluice/core/testing';
import { rateLimit } from '@sluice/express';
import express from 'express';
import request from 'supertest';
import { expect, test } from 'vitest';

test('a client may send one request a minute', async () => {
  const time = new FakeTime();
  const app = express();
  app.use(rateLimit({ count: 1, period: '1m', time }));
  app.get('/', (_req, res) => void res.send('hello'));

  await request(app).get('/').expect(200);
  const denied = await request(app).get('/').expect(429);
  expect(denied.get('Retry-After')).toBe('60');

  time.advance(59_999);
  await request(app).get('/').expect(429);
  time.advance(1);
  await request(app).get('/').expect(200);
});
