import { afterAll, beforeAll, describe } from 'vitest';
import { NOW_MS, testCells } from '../support/cells.ts';

const date = 'Sun, 06 Nov 1994 08:49:07 GMT';
const after = (text: string) => ({ date, 'retry-after': text });

// RFC 9110 sections 10.2.3 and 5.6.7
describe('Retry-After', () => {
  testCells([
    { where: 'seconds', status: 503, fields: after('120'), teaches: 'denied for 120000' },
    { where: 'a date', status: 429, fields: after('Sun, 06 Nov 1994 08:49:37 GMT'), teaches: 'denied for 30000' },
    { where: 'of RFC 850', status: 429, fields: after('Sunday, 06-Nov-94 08:49:37 GMT'), teaches: 'denied for 30000' },
    { where: 'of asctime', status: 429, fields: after('Sun Nov  6 08:49:37 1994'), teaches: 'denied for 30000' },
    {
      where: 'a date that has passed',
      status: 429,
      fields: after('Sun, 06 Nov 1994 08:00:00 GMT'),
      teaches: 'denied for 0',
    },
    {
      where: 'a date, by our clock',
      status: 429,
      fields: { 'retry-after': new Date(NOW_MS + 9000).toUTCString() },
      teaches: 'denied for 9000',
    },
    {
      where: 'a date, by our clock where Date is none',
      status: 429,
      fields: { date: 'today', 'retry-after': new Date(NOW_MS + 9000).toUTCString() },
      teaches: 'denied for 9000',
    },
    { where: 'twice', status: 429, fields: { 'retry-after': ['3', '30'] }, teaches: 'denied for 30000' },
    { where: 'as fetch joins it', status: 429, fields: { 'retry-after': '30, 3' }, teaches: 'denied for 30000' },
    { where: 'text', status: 429, fields: after('soon'), teaches: 'denied' },
    { where: 'NaN', status: 429, fields: after('NaN'), teaches: 'denied' },
    { where: 'below nothing', status: 429, fields: after('-5'), teaches: 'denied for 0' },
    { where: 'none', status: 429, fields: {}, teaches: 'denied' },
    { where: 'an outage without a time is no limit', status: 503, fields: {}, teaches: '' },
    { where: 'not of a redirection', status: 302, fields: after('120'), teaches: '' },
    { where: 'not of an answer that is accepted', status: 202, fields: after('120'), teaches: '' },
    { where: 'too long to be meant', status: 429, fields: after('9'.repeat(10_000)), teaches: 'denied' },
    {
      where: '10^30',
      status: 429,
      fields: after(`1${'0'.repeat(30)}`),
      teaches: `denied for ${1e30 - Date.parse(date)}`,
    },
  ]);
});

// Without a zone, asctime is in UTC.
describe('in a zone far from UTC', () => {
  const { TZ } = process.env;
  beforeAll(() => void (process.env['TZ'] = 'Pacific/Auckland'));
  afterAll(() => {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  });
  testCells([
    { where: 'of asctime', status: 429, fields: after('Sun Nov  6 08:49:37 1994'), teaches: 'denied for 30000' },
  ]);
});

describe('retry-after-ms', () => {
  testCells([
    { where: 'Azure', status: 429, fields: { 'retry-after-ms': '250', 'retry-after': '1' }, teaches: 'denied for 250' },
    { where: 'Azure', status: 429, fields: { 'x-ms-retry-after-ms': '12.5' }, teaches: 'denied for 13' },
    {
      where: 'text',
      status: 429,
      fields: { 'retry-after-ms': 'soon', 'retry-after': '1' },
      teaches: 'denied for 1000',
    },
  ]);
});
