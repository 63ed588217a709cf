import type { Option } from '../console/command.ts';

/** The options of all commands that read logs. */
export const LOG_OPTIONS: readonly Option[] = [
  {
    flags: '--format <format>',
    text: 'combined, main, alb, caddy, traefik, envoy, pino, json, or the text of an nginx log_format; default: detected from the first lines',
  },
  {
    flags: '--field <name=path>',
    text: 'where lines of JSON have time, started, duration, address, request, method, path or status, such as address=client.ip',
    repeats: true,
  },
  { flags: '--duration-unit <unit>', text: 'the unit of durations: s, ms, us or ns; default: that of the format' },
  { flags: '--trust <network>', text: 'a proxy that is trusted, as in trustedProxies of your server', repeats: true },
  { flags: '--address-header <name>', text: 'the header in which it passes the address; default: x-forwarded-for' },
];
