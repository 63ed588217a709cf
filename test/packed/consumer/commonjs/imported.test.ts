import { accountId, createLimiter, memoryStore, SluiceError, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { rateLimit } from '@sluice/express';
import express, { type Express } from 'express';
import request from 'supertest';

const time = new FakeTime();

function makeApp(): Express {
  const app = express();
  app.use(rateLimit({ name: 'Requests', count: 1, period: '1m', store: memoryStore({ time }) }));
  app.get('/', (_req, res) => {
    res.send('hello');
  });
  return app;
}

test('an application is limited, and lets requests through again when the clock has moved', async () => {
  const app = makeApp();
  expect((await request(app).get('/')).status).toBe(200);
  expect((await request(app).get('/')).status).toBe(429);
  time.advance(60_000);
  expect((await request(app).get('/')).status).toBe(200);
});

test('errors are those of the core that was imported', () => {
  expect(() => rateLimit({ count: 0, period: '1m' })).toThrow(SluiceError);
});

test('fake timers of Jest do not keep a deadline from passing', async () => {
  jest.useFakeTimers();
  const never = () => new Promise<never>(() => {});
  const store: Store = { guard: storeGuard, run: never, close: never };
  const limits = { Mails: { key: accountId(), count: 1, period: '1m', onFailure: 'closed' } } as const;
  const limiter = createLimiter({ limits, store, log: false });
  const { outcome } = await limiter.spend([{ limit: 'Mails', id: '12345678' }]);
  jest.useRealTimers();
  expect(outcome).toBe('unavailable');
});
