import { describe } from 'vitest';
import { NOW_MS, testCells } from '../support/cells.ts';

const date = 'Tue, 20 Aug 2013 14:50:41 GMT';
const github = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-github-request-id': 'C0FF:EE' };

describe('X-RateLimit-*', () => {
  const figures = (reset: string) => ({ 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': reset });
  testCells([
    { where: 'seconds', fields: figures('60'), teaches: 'requests 5 for 60000' },
    { where: 'seconds with decimals', fields: figures('0.25'), teaches: 'requests 5 for 250' },
    {
      where: 'seconds since 1970, by the Date of the answer',
      fields: { date, ...figures('1377013266') },
      teaches: 'requests 5 for 3025000',
    },
    {
      where: 'seconds since 1970, by our clock',
      fields: figures(String(NOW_MS / 1000 + 7)),
      teaches: 'requests 5 for 7000',
    },
    {
      where: 'milliseconds since 1970',
      fields: { date, ...figures('1377010246500') },
      teaches: 'requests 5 for 5500',
    },
    { where: 'past', fields: { date, ...figures('1377010240') }, teaches: 'requests 5 for 0' },
    {
      where: 'RFC 3339 (Rachio)',
      fields: { date: 'Mon, 12 Mar 2018 23:59:00 GMT', ...figures('2018-03-13T00:00:00Z') },
      teaches: 'requests 5 for 60000',
    },
    {
      where: 'a wait besides (Discord)',
      fields: { date, ...figures('1470173023.123'), 'x-ratelimit-reset-after': '64.57' },
      teaches: 'requests 5 for 64570',
    },
    {
      where: 'X',
      fields: { date, 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': '1377010251' },
      teaches: 'requests 0 for 10000',
    },
    { where: 'decimals (Reddit)', fields: { 'x-ratelimit-remaining': '598.0' }, teaches: 'requests 598' },
    {
      where: 'no limit, written as −1',
      fields: { 'x-ratelimit-limit': '-1', 'x-ratelimit-remaining': '-1' },
      teaches: '',
    },
  ]);
});

// docs.github.com, "Rate limits for the REST API", "Exceeding the rate limit"
describe('GitHub', () => {
  testCells([
    {
      where: 'primary limit: 403 until the reset',
      status: 403,
      fields: { date, ...github, 'x-ratelimit-reset': '1377013266' },
      teaches: 'denied for 3025000',
    },
    {
      where: 'secondary limit with Retry-After',
      status: 403,
      fields: { ...github, 'x-ratelimit-remaining': '14', 'retry-after': '60' },
      teaches: 'requests 14, denied for 60000',
    },
    {
      where: 'secondary limit that says nothing: at least a minute',
      status: 429,
      fields: { ...github, 'x-ratelimit-remaining': '14' },
      teaches: 'requests 14, denied for 60000',
    },
    {
      where: 'a lack of permission is no limit',
      status: 403,
      fields: { ...github, 'x-ratelimit-remaining': '14' },
      teaches: 'requests 14',
    },
  ]);
});

// platform.openai.com, "Rate limits", "Rate limits in headers"
describe('OpenAI', () => {
  const requests = {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '1s',
  };
  const tokens = (remaining: string, reset: string) => ({
    'x-ratelimit-limit-tokens': '150000',
    'x-ratelimit-remaining-tokens': remaining,
    'x-ratelimit-reset-tokens': reset,
  });
  testCells([
    {
      where: 'the sample',
      fields: { ...requests, ...tokens('149984', '6m0s') },
      teaches: 'requests 59 for 1000, tokens 149984 for 360000',
    },
    { where: 'milliseconds', fields: tokens('1', '120ms'), teaches: 'tokens 1 for 120' },
    { where: 'decimals', fields: tokens('1', '33.023s'), teaches: 'tokens 1 for 33023' },
    { where: 'Groq', fields: tokens('1', '2m52.8s'), teaches: 'tokens 1 for 172800' },
    { where: 'days', fields: tokens('1', '1d2h3m'), teaches: 'tokens 1 for 93780000' },
    { where: 'Azure: seconds, and below nothing', fields: tokens('-27689', '64'), teaches: 'tokens 0 for 64000' },
    { where: 'no such duration', fields: tokens('1', '6m0x'), teaches: 'tokens 1' },
    {
      where: 'a denial with retry-after-ms',
      status: 429,
      fields: { ...tokens('0', '6m0s'), 'retry-after-ms': '1537', 'retry-after': '2' },
      teaches: 'denied for 1537',
    },
    { where: 'a denial without it', status: 429, fields: tokens('0', '6m0s'), teaches: 'denied for 360000' },
  ]);
});

// platform.claude.com, "Rate limits", "Response headers"
describe('Anthropic', () => {
  const of = (name: string, remaining: string, reset: string) => ({
    [`anthropic-ratelimit-${name}-limit`]: '80000',
    [`anthropic-ratelimit-${name}-remaining`]: remaining,
    [`anthropic-ratelimit-${name}-reset`]: reset,
  });
  const sent = 'Thu, 21 Aug 2025 12:41:00 GMT';
  testCells([
    {
      where: 'a recorded answer, of which nothing was used',
      fields: {
        date: sent,
        ...of('requests', '999', '2025-08-21T12:40:59Z'),
        ...of('tokens', '96000', '2025-08-21T12:40:59Z'),
        ...of('input-tokens', '80000', '2025-08-21T12:40:59Z'),
        ...of('output-tokens', '16000', '2025-08-21T12:41:00Z'),
      },
      teaches: 'requests 999 for 0, tokens 96000 for 0, input-tokens 80000 for 0, output-tokens 16000 for 0',
    },
    {
      where: 'used up, in another zone',
      fields: { date: sent, ...of('input-tokens', '0', '2025-08-21T07:41:30.5-05:00') },
      teaches: 'input-tokens 0 for 30500',
    },
    { where: 'no such date', fields: of('tokens', '5', '2025-13-45T12:41:30Z'), teaches: 'tokens 5' },
    { where: 'overloaded', status: 529, fields: { 'retry-after': '5' }, teaches: 'denied for 5000' },
  ]);
});
