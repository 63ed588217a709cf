import type { Proxy } from './site.ts';

/** The proxies of Debian, as the docs start them. */
export const PROXIES: readonly (Proxy & { readonly failsClosedBy: readonly [string, string] })[] = [
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
  },
  {
    name: 'Caddy',
    files: ['Caddyfile'],
    command: () => ['caddy', 'run', '--config', 'Caddyfile', '--adapter', 'caddyfile'],
    failsClosedBy: ['[502, 503, 504]', '[999]'],
  },
  {
    name: 'HAProxy',
    files: ['haproxy.cfg', 'sluice.lua'],
    command: () => ['haproxy', '-f', 'haproxy.cfg'],
    failsClosedBy: ['# http-request return', 'http-request return'],
  },
];
