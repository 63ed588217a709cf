import { createLimiter, memoryStore, type Decision } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { accountId } from '@sluice/core';
import { expect, test, vi } from 'vitest';
import { DIALECTS, retryAfterSeconds, writeFields, type FieldSettings } from '../../src/http/fields.ts';

const limiter = createLimiter({
  limits: { Orders: { key: accountId(), count: 1, period: '100s' } },
  store: memoryStore({ time: new FakeTime() }),
});

function fieldsOf(decision: Decision, { dialect, retryJitter }: FieldSettings): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  const getField = (name: string): string | undefined =>
    [...fields].find(([field]) => field.toLowerCase() === name)?.[1];
  writeFields(
    decision,
    { decision: undefined, getField, setField: (name, value) => fields.set(name, value) },
    { dialect, retryAfter: retryAfterSeconds(decision, retryJitter), queuedMs: 0, time: new FakeTime() },
  );
  return fields;
}

const spend = (): Decision => limiter.spendSync([{ limit: 'Orders', id: 'ann' }]);

test('jitter only lengthens Retry-After, by at most its share of the wait', () => {
  spend();
  const random = vi.spyOn(Math, 'random');
  const retryAfterAt = (value: number, retryJitter: number): string | undefined => {
    random.mockReturnValue(value);
    return fieldsOf(spend(), { dialect: null, retryJitter }).get('Retry-After');
  };
  expect(retryAfterAt(0, 0.03)).toBe('100');
  expect(retryAfterAt(0.5, 0.02)).toBe('101');
  expect(retryAfterAt(0.999, 0.03)).toBe('103');
  expect(retryAfterAt(0.999, 0)).toBe('100');
  random.mockRestore();
});

test('a limit that was only checked is reported with its state, without its cost', () => {
  const checked = limiter.spendSync([{ limit: 'Orders', id: 'bob', mode: 'check-only' }]);
  expect(fieldsOf(checked, { dialect: DIALECTS['draft-11'], retryJitter: 0 }).get('RateLimit')).toBe('"Orders";r=1');
});
