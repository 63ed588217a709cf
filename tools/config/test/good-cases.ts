import { LIMITS } from './written-files.ts';

/** Files without a problem. */
export interface GoodCase {
  readonly name: string;
  readonly limits?: string;
  readonly overrides?: string;
}

function overrideOf(ids: string): string {
  return `- NewOrdersPerAccount:\n    count: 600\n    period: 180m\n    ids:\n${ids}`;
}

/** The limits, of which orders have these fields. */
function withOrders(fields: string): string {
  return LIMITS.replace(/(NewOrdersPerAccount:) .*/, `$1 { ${fields} }`);
}

export const GOOD_CASES: readonly GoodCase[] = [
  { name: 'an override with a file of ids', overrides: '- NewOrdersPerAccount: { blocked: true, ids: ids.txt }\n' },
  { name: 'a limit with an overshoot', limits: withOrders('count: 300, period: 180m, overshoot: 0.1') },
  ...['count: 300, period: 180m', 'count: 300, per: month', 'concurrency: 10'].map((fields) => {
    return { name: `an exact limit: ${fields}`, limits: withOrders(`${fields}, exact: true`) };
  }),
  { name: 'a quota', limits: withOrders('count: 300, per: month') },
  {
    name: 'a quota with all its fields',
    limits: withOrders(
      'count: 300, per: week, timeZone: Europe/Berlin, anchor: 2026-01-31, warnAt: [0.8, 1], hidden: true',
    ),
    overrides:
      '- NewOrdersPerAccount:\n    count: 600\n    ids: [1]\n- NewOrdersPerAccount:\n    unlimited: true\n    ids: [2]\n',
  },
  { name: 'a concurrency limit', limits: withOrders('concurrency: 1000000') },
  {
    name: 'a concurrency limit with all its fields',
    limits: withOrders('concurrency: 10, expiry: 1h, scope: store, disabled: false, idFormat: accountId'),
    overrides:
      '- NewOrdersPerAccount: { concurrency: 1, ids: [1] }\n- NewOrdersPerAccount: { blocked: true, ids: [2] }\n',
  },
  { name: 'a bulkhead', limits: withOrders('concurrency: 1, scope: process') },
  { name: 'a load limit', limits: withOrders('load: eventLoop') },
  { name: 'a load limit with the defaults', limits: withOrders('load: {}') },
  {
    name: 'a load limit with all its fields',
    limits: withOrders(
      'load: { calm: 0.5, busy: 0.9, rise: 500ms, fall: 1h, every: 500ms, classes: 100 }, disabled: true, idFormat: accountId',
    ),
    overrides:
      '- NewOrdersPerAccount: { unlimited: true, ids: [1] }\n- NewOrdersPerAccount: { blocked: true, ids: [2] }\n',
  },
  {
    name: 'a load limit without a key in code',
    limits: `${LIMITS}Worker: { load: eventLoop, idFormat: clientNetwork }\n`,
  },
  { name: 'limits in flow style', limits: LIMITS },
  { name: 'limits as JSON', limits: JSON.stringify(limitsAsData()) },
  { name: 'CRLF line ends', limits: LIMITS.replaceAll('\n', '\r\n') },
  { name: 'a byte order mark', limits: `\uFEFF${LIMITS}` },
  { name: 'comments and a document marker', limits: `# ours\n---\n${LIMITS}# end\n` },
  { name: 'a limit that is switched off', limits: LIMITS.replace('count: 300', 'disabled: true, count: 300') },
  { name: 'a limit that is not switched off', limits: LIMITS.replace('count: 300', 'disabled: false, count: 300') },
  { name: 'a limit that is hidden', limits: LIMITS.replace('count: 300', 'hidden: true, count: 300') },
  { name: 'the format of the ids', limits: LIMITS.replace('count: 300', 'idFormat: accountId, count: 300') },
  { name: 'the format as Boulder calls it', limits: LIMITS.replace('count: 300', 'idFormat: regId, count: 300') },
  { name: 'bounds', limits: LIMITS.replace('count: 300', 'count: 300, atMost: { 600: 180m, 1000000000: 366d }') },
  {
    name: 'bounds that an override keeps exactly',
    limits: LIMITS.replace('burst: 300, count: 300', 'burst: 1, count: 300, atMost: { 1200: 180m }'),
    overrides: overrideOf('    - 1\n'),
  },
  {
    name: 'a quota of a trillion tokens, and its override',
    limits: LIMITS.replace('count: 300', 'count: 1000000000000')
      .replace('period: 180m', 'per: month')
      .replace('burst: 300, ', ''),
    overrides: '- NewOrdersPerAccount: { count: 999999999999, ids: [1] }\n',
  },
  { name: 'a debt', limits: LIMITS.replace('count: 300', 'maxDebt: 50, count: 300') },
  { name: 'a line', limits: LIMITS.replace('count: 300', 'maxWait: 1m30s, count: 300') },
  { name: 'no debt', limits: LIMITS.replace('count: 300', 'maxDebt: 0, count: 300') },
  { name: 'a duration of parts', limits: LIMITS.replace('180m', '1h30m') },
  { name: 'no overrides', overrides: '[]\n' },
  {
    name: 'ids as numbers, as text, and with a comment',
    overrides: overrideOf('    - 1\n    - "2"\n    - a\n    - { id: 3, comment: x }\n'),
  },
  {
    name: 'comments that are numbers or empty',
    overrides: overrideOf('    - { id: 1, comment: 4711 }\n    - { id: 2, comment: }\n'),
  },
  {
    name: 'ids of 20 digits and with leading zeros',
    overrides: overrideOf('    - 12345678901234567890\n    - 0123\n'),
  },
  {
    name: 'ids that are words to older YAML',
    overrides: overrideOf('    - yes\n    - 2026-01-01\n    - 1_000\n'),
  },
  { name: 'ids that are let through', overrides: '- NewOrdersPerAccount: { unlimited: true, ids: [1] }\n' },
  {
    name: 'a line of its own',
    overrides: overrideOf('    - 1\n').replace('count: 600', 'count: 600\n    maxWait: 250ms'),
  },
  {
    name: 'a debt of its own',
    overrides: overrideOf('    - 1\n').replace('count: 600', 'count: 600\n    maxDebt: 7'),
  },
  { name: 'ids that are blocked', overrides: '- NewOrdersPerAccount: { blocked: true, ids: [1] }\n' },
  {
    name: 'networks of addresses',
    overrides: '- NewRegistrationsPerIPAddress: { unlimited: true, ids: [10.20.0.0/16, "2001:db8::/32"] }\n',
  },
  { name: 'one limit in several overrides', overrides: overrideOf('    - 1\n') + overrideOf('    - 2\n') },
  {
    name: 'aliases',
    overrides: overrideOf('    - 1\n').replace('180m', '&p 180m') + overrideOf('    - 2\n').replace('180m', '*p'),
  },
];

function limitsAsData(): object {
  return {
    NewRegistrationsPerIPAddress: { burst: 20, count: 20, period: '1s' },
    NewRegistrationsPerIPv6Range: { count: 500, period: '1s' },
    NewOrdersPerAccount: { burst: 300, count: 300, period: '180m' },
  };
}
