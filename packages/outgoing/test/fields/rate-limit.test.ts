import { describe } from 'vitest';
import { testCells } from '../support/cells.ts';

// draft-ietf-httpapi-ratelimit-headers, by the number of the draft and the title of the section.
describe('RateLimit as a list', () => {
  const policy = '"default";q=100;w=10';
  testCells([
    {
      where: 'draft 8, "RateLimit Field"',
      fields: { ratelimit: '"default";r=50;t=30' },
      teaches: 'default 50 for 30000',
    },
    {
      where: 'draft 11, a partition key and no reset',
      fields: { ratelimit: '"default";r=999;pk=:dHJpYWwxMjEzMjM=:' },
      teaches: 'default 999',
    },
    {
      where: 'draft 11, several policies',
      fields: {
        'ratelimit-policy': '"permin";q=50;w=60, "perhr";q=1000;w=3600, "perday";q=5000;w=86400',
        ratelimit: '"perday";r=0;t=300, "permin";r=20;t=10',
      },
      teaches: 'perday 0 for 300000, permin 20 for 10000',
    },
    {
      where: 'draft 11, a unit of content',
      fields: {
        'ratelimit-policy': '"peruser";q=65535;qu="content-bytes";w=10',
        ratelimit: '"peruser";r=300000000;t=60',
      },
      teaches: 'peruser (other) 300000000 for 60000',
    },
    {
      where: 'draft 11, concurrency',
      fields: { 'ratelimit-policy': '"slots";q=10;qu="concurrent-requests"', ratelimit: '"slots";r=0' },
      teaches: 'slots (other) 0',
    },
    {
      where: 'draft 11, "Client Behavior": Retry-After takes precedence',
      status: 429,
      fields: { 'retry-after': '20', 'ratelimit-policy': policy, ratelimit: '"default";r=0;t=15' },
      teaches: 'denied for 20000',
    },
    {
      where: 'draft 11, a denial without Retry-After',
      status: 429,
      fields: { ratelimit: '"default";r=0;t=15' },
      teaches: 'denied for 15000',
    },
    {
      where: 'a denial by two policies, of which the longer counts',
      status: 429,
      fields: { ratelimit: '"permin";r=0;t=15, "perhr";r=0;t=300, "perday";r=5;t=900' },
      teaches: 'perday 5 for 900000, denied for 300000',
    },
    {
      where: 'draft 11, "Caching": from a cache',
      fields: { ratelimit: '"default";r=0;t=15', age: '3' },
      teaches: '',
    },
    { where: 'proposed change #166', fields: { ratelimit: '"burst";a=80;w=45' }, teaches: 'burst 80 for 45000' },
    { where: 'proposed change #166', fields: { ratelimit: '"burst";a=0;w=45;c=2' }, teaches: 'burst 0 for 45000' },
    { where: 'our own', fields: { ratelimit: '"Orders";r=9;t=6' }, teaches: 'Orders 9 for 6000' },
    {
      where: 'RFC 9651 section 3.1: several lines are one list',
      fields: { ratelimit: ['"a";r=1;t=2', '"b";r=3'] },
      teaches: 'a 1 for 2000, b 3',
    },
    {
      where: 'RFC 9651 section 4.2.5: a string is not split',
      fields: { ratelimit: '"a, \\";r=0";r=7' },
      teaches: 'a, ";r=0 7',
    },
    { where: 'malformed', fields: { ratelimit: '"a";r=x, "b', 'ratelimit-policy': '"' }, teaches: '' },
    { where: 'malformed', fields: { ratelimit: '"a";r=9007199254740992' }, teaches: '' },
    { where: 'below nothing', fields: { ratelimit: '"a";r=-3;t=-1' }, teaches: 'a 0 for 0' },
  ]);
});

describe('RateLimit as a dictionary', () => {
  testCells([
    {
      where: 'draft 7, "RateLimit"',
      fields: { ratelimit: 'limit=100, remaining=50, reset=5' },
      teaches: 'requests 50 for 5000',
    },
    {
      where: 'draft 7, a denial',
      status: 429,
      fields: { ratelimit: 'limit=100, remaining=0, reset=5' },
      teaches: 'denied for 5000',
    },
    { where: 'draft 7, without a reset', fields: { ratelimit: 'limit=100, remaining=1' }, teaches: 'requests 1' },
    { where: 'draft 7, malformed', fields: { ratelimit: 'limit=100, remaining=, reset=5' }, teaches: '' },
  ]);
});

describe('RateLimit-*', () => {
  testCells([
    {
      where: 'draft 6, "RateLimit-Reset"',
      fields: { 'ratelimit-limit': '100', 'ratelimit-remaining': '50', 'ratelimit-reset': '50' },
      teaches: 'requests 50 for 50000',
    },
    {
      where: 'draft 3, a policy in RateLimit-Limit',
      fields: { 'ratelimit-limit': '10, 10;w=1, 50;w=60', 'ratelimit-remaining': '9', 'ratelimit-reset': '1' },
      teaches: 'requests 9 for 1000',
    },
    {
      where: 'two lines that contradict each other',
      fields: { 'ratelimit-remaining': ['7', '2'], 'ratelimit-reset': ['4', '30'] },
      teaches: 'requests 2 for 30000',
    },
    { where: 'a reset alone', fields: { 'ratelimit-reset': '50' }, teaches: '' },
  ]);
});
