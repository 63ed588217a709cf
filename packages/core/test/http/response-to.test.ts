import { expect, test } from 'vitest';
import { accountId, createLimiter } from '../../src/index.ts';
import { responseTo } from '../../src/http/index.ts';
import { FakeTime } from '../../src/testing/index.ts';

const time = new FakeTime(0);
const limiter = createLimiter({ limits: { Orders: { key: accountId(), count: 1, period: '1m' } }, time });

test('the response to a decision has the fields of a middleware, and a denial when it is denied', async () => {
  const allowed = await limiter.spend([{ limit: 'Orders', id: '1' }]);
  expect(responseTo(allowed, { fields: 'draft-11', time })).toEqual({
    fields: new Map([
      ['RateLimit-Policy', '"Orders";q=1;w=60'],
      ['RateLimit', '"Orders";r=0;t=60'],
    ]),
    denial: null,
  });
  const denied = responseTo(await limiter.spend([{ limit: 'Orders', id: '1' }]), { fields: 'legacy', time });
  expect(denied.fields.get('Retry-After')).toBe('60');
  expect(denied.fields.get('X-RateLimit-Remaining')).toBe('0');
  expect(denied.denial).toMatchObject({ status: 429 });
});

test('without fields, a denial has Retry-After alone', async () => {
  const denied = responseTo(await limiter.spend([{ limit: 'Orders', id: '1' }]), { fields: false, time });
  expect([...denied.fields.keys()]).toEqual(['Retry-After']);
  expect(() => responseTo(denied.denial!.decision, { fields: 'draft-8' as never, time })).toThrow(
    "`fields` must be 'draft-11'",
  );
});
