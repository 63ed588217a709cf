import { accountId, createLimiter } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { timeZoneNamed } from '../../src/calendar/time-zone.ts';
import { sized } from '../../../../test/sized.ts';

const { DateTimeFormat } = Intl;
let made = 0;

beforeEach(() => {
  made = 0;
  Intl.DateTimeFormat = class extends DateTimeFormat {
    constructor(...args: ConstructorParameters<typeof DateTimeFormat>) {
      super(...args);
      made++;
    }
  } as unknown as typeof DateTimeFormat;
});
afterEach(() => {
  Intl.DateTimeFormat = DateTimeFormat;
});

const MANY = sized(4000, 20_000);

test(`${MANY} anchors of a quota in one time zone need one format of dates`, async () => {
  const anchor = (id: string): Date => new Date(Date.UTC(2024, 0, 1) + 61_001 * Number(id));
  const limits = {
    Monthly: quota({ key: accountId(() => null), count: 5, per: 'month', timeZone: 'Antarctica/Troll', anchor }),
  } as const;
  const limiter = createLimiter({ limits, time: new FakeTime(Date.UTC(2026, 5, 1)), log: false });
  for (let id = 0; id < MANY; id++) await limiter.spend([{ limit: 'Monthly', id: String(id) }]);
  expect(made).toBe(1);
});

test('the formats of more than a thousand names of time zones are not all kept', () => {
  // Spellings of one name.
  const spelling = (n: number): string =>
    ['e', 'u', 'r', 'o', 'p', 'e/', 'b', 'e', 'r', 'l', 'in']
      .map((letter, i) => (Math.floor(n / 2 ** i) % 2 === 1 ? letter.toUpperCase() : letter))
      .join('');
  for (let n = 0; n < 1200; n++) timeZoneNamed(spelling(n));
  expect(made).toBe(1200);
  timeZoneNamed(spelling(1199));
  expect(made).toBe(1200);
  timeZoneNamed(spelling(0));
  expect(made).toBe(1201);
});

test('local times are those of the platform for more days than are kept', () => {
  const zone = timeZoneNamed('America/St_Johns');
  const format = new DateTimeFormat('en-GB', { timeZone: 'America/St_Johns', dateStyle: 'short', timeStyle: 'medium' });
  const utc = new DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'short', timeStyle: 'medium' });
  // Every day for twelve years, at another time of the day. Until 2011 clocks changed a minute after midnight.
  for (let day = 0; day < 4400; day++) {
    const ms = Date.UTC(2004, 0, 1) + day * 86_400_000 + ((day * 7919) % 86_400) * 1000;
    expect(utc.format(zone.localAt(ms))).toBe(format.format(ms));
  }
});
