import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { REDIS_OPTIONS } from '../redis/options.ts';
import { LIMITS_WORD } from './words.ts';

/** `sluice serve`: decides for proxies. */
export const serve: Command = {
  about: [
    'Decides for proxies: for Envoy as its rate limit service, for nginx, Caddy, HAProxy and Traefik by HTTP at ',
    '/check/<table>. Follows changes of its files. SIGTERM and Ctrl-C let it answer the requests that are there, and end.',
  ].join(''),
  args: [
    LIMITS_WORD,
    { name: '<tables>', text: 'the file of tables: which limits apply to which requests' },
    { name: '[overrides]', text: 'the file of overrides' },
  ],
  options: [
    { flags: '--http <address>', text: 'where proxies ask by HTTP: 127.0.0.1:9090, or unix:/run/sluice.sock' },
    { flags: '--grpc <address>', text: 'where Envoy asks: 127.0.0.1:9091' },
    { flags: '--metrics <address>', text: 'where Prometheus reads /metrics' },
    {
      flags: '--operate',
      text: 'let peek, reset, charge, refund, block, unblock and blocked ask at the address of --metrics: with the token in the environment variable SLUICE_OPERATOR_TOKEN, or on a unix socket of this user',
    },
    {
      flags: '--trust <network>',
      text: 'who may ask: a network, an address, loopback, private or unix; may be given several times; default: loopback and unix',
      repeats: true,
    },
    {
      flags: '--address-header <name>',
      text: 'the header in which proxies pass the address; default: x-forwarded-for',
    },
    {
      flags: '--print-fields',
      text: 'print the header fields that the tables read of the requests of proxies, which need to send no other, and end',
    },
    { flags: '--processes <n>', text: 'how many processes decide, or all for one for each core; default: 1' },
    {
      flags: '--gateways <n>',
      text: 'how many processes share the Redis, those of other machines included; default: those of --processes',
    },
    { flags: '--leases', text: 'decide limits with an overshoot in the process, by tokens leased from Redis' },
    { flags: '--deadline <ms>', text: 'how long a decision waits for Redis; default: 50' },
    {
      flags: '--on-failure <policy>',
      text: 'local, open or closed, while Redis does not answer; default: local',
      values: ['local', 'open', 'closed'],
    },
    { flags: '--drain <ms>', text: 'how long open connections are waited for at the end; default: 10000' },
    ...REDIS_OPTIONS,
  ],
  example: 'sluice serve --http 127.0.0.1:9090 limits.yaml tables.yaml',
  endsItself: true,
  async run(call) {
    const { printFields, serveCall } = await import('../serve/serve.ts');
    await (call.has('printFields') ? printFields(call) : serveCall(call));
    return EXIT.fine;
  },
};
