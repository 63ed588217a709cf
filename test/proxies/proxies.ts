import type { Proxy } from './site.ts';

interface TestedProxy extends Proxy {
  /** What is changed so that it fails closed. */
  readonly failsClosedBy: readonly [string, string];
  /** What is changed so that it knows the account of a client, `ada` for all, and passes it on. */
  readonly knowsAccount: readonly (readonly [string, string])[];
  /** Mistakes in its configuration that deny, what each changes, and the status. */
  readonly answersDeny: readonly (readonly [what: string, changes: readonly (readonly [string, string])[], number])[];
  /** Numbers of fields, and how large each is, that it takes from a client. */
  readonly takes: readonly (readonly [count: number, bytes: number])[];
}

/** The proxies of Debian, as the docs start them. */
export const PROXIES: readonly TestedProxy[] = [
  {
    name: 'nginx',
    files: ['nginx.conf'],
    command: (folder) => [
      'nginx',
      '-p',
      folder,
      '-c',
      `${folder}/nginx.conf`,
      '-e',
      'stderr',
      '-g',
      `daemon off; pid ${folder}/nginx.pid; master_process off;`,
    ],
    failsClosedBy: ['error_page 502 504 = @backend', 'error_page 502 504 = @unavailable'],
    knowsAccount: [['# proxy_set_header X-Account-Id $account_id', 'proxy_set_header X-Account-Id ada']],
    answersDeny: [
      ['no address', [['X-Forwarded-For $remote_addr', 'X-Other $remote_addr']], 500],
      ['another table', [['/check/nginx', '/check/other']], 404],
    ],
    takes: [
      [900, 1],
      [3, 6000],
      [4, 7000],
    ],
  },
  {
    name: 'Caddy',
    files: ['Caddyfile'],
    command: () => ['caddy', 'run', '--config', 'Caddyfile', '--adapter', 'caddyfile'],
    failsClosedBy: ['status 502 504', 'status 999'],
    knowsAccount: [
      ['# header_up X-Account-Id', 'header_up X-Account-Id'],
      ['# account', 'account'],
      ['# Asks first', 'request_header X-Account-Id ada\n#'],
    ],
    answersDeny: [['another table', [['/check/api', '/check/other']], 404]],
    takes: [
      [1100, 1],
      [1, 17_000],
      [33, 1000],
      [1, 500_000],
    ],
  },
  {
    name: 'HAProxy',
    files: ['haproxy.cfg', 'sluice.lua'],
    command: () => ['haproxy', '-f', 'haproxy.cfg'],
    failsClosedBy: ['# http-request return', 'http-request return'],
    knowsAccount: [
      ['local FIELDS = {}', 'local FIELDS = { "x-account-id" }'],
      ['  http-request lua.sluice', '  http-request set-header X-Account-Id ada\n  http-request lua.sluice'],
    ],
    answersDeny: [
      ['no address', [['"x-forwarded-for"', '"x-other"']], 500],
      ['another table', [['/check/api', '/check/other']], 404],
      ['an error in the script', [['local values = asked(txn)', 'local values = nil + 1']], 500],
    ],
    takes: [
      [90, 1],
      [1, 14_000],
      [14, 1000],
    ],
  },
];
