/** The words, options and examples that several commands have. */
import type { Argument, Call, Option } from '../console/command.ts';
import { REDIS_OPTIONS, STORE_OPTIONS } from '../redis/options.ts';

/** The first word of a command that reads limits. */
export const LIMITS_WORD: Argument = { name: '<limits>', text: 'the file of limits, YAML or JSON; - for stdin' };

/** What follows the file of limits in a command that names a limit. */
export const WORDS = 'the file of overrides if there is one, the name of a limit, and an id';

/** The words of a command that names one bucket. */
export const BUCKET_WORDS: readonly Argument[] = [LIMITS_WORD, { name: '<words...>', text: WORDS }];

/** The words of a command that blocks an id. */
export const BLOCK_WORDS: readonly Argument[] = [
  { name: '<words...>', text: `the name of a limit and an id; to check both, before them the files as of peek` },
];

/** The option that names a limit. */
export const LIMIT_OPTION: Option = { flags: '--limit <name>', text: 'the name of the limit, instead of the word' };

/** The options of a command that names one bucket. */
export const BUCKET_OPTIONS: readonly Option[] = [...STORE_OPTIONS, ...REDIS_OPTIONS, LIMIT_OPTION];

/** The options of commands that change a bucket. */
export const AUDIT_OPTIONS: readonly Option[] = [
  {
    flags: '--audit',
    text: 'write who did what, and what the bucket had before and after, as a line of JSON to stderr',
  },
  { flags: '--log', text: 'add that line to the stream sluice:log in Redis, which sluice log prints' },
  { flags: '--by <who>', text: 'with these: who does it; default: user and host, where stdin is a terminal' },
  { flags: '--reason <text>', text: 'with these: why' },
  { flags: '--hash-ids', text: 'with these: a hash in place of the id' },
];

/** The options of all commands that read files of limits. */
export const LIMIT_FILE_OPTIONS: readonly Option[] = [
  {
    flags: '--keys <module>',
    text: 'an ES module that exports `keys` as your server has them; default: by the idFormat of each limit',
  },
  {
    flags: '--max-bytes <bytes>',
    text: 'the maximum size of a file of limits, overrides or ids, as `maxBytes` of your server; default: 2097152',
  },
];

/** The option of commands that take a number of tokens. */
export const COST_OPTION: Option = { flags: '--cost <tokens>', text: 'the number of tokens; default: 1' };

/** The largest cost: all tokens of the largest quota. */
export const MAX_COST = 1_000_000_000_000;

/** Returns the number of tokens of a call. */
export function costOf(call: Call): number {
  return call.wholeNumber('cost', { min: 1, max: MAX_COST, unset: 1 });
}

/** The option of commands that read logs and give some requests another cost. */
export const COSTS_OPTION: Option = {
  flags: '--cost <pattern=cost>',
  text: "the cost of some requests: 'POST /orders=5'; default: 1",
  repeats: true,
};

/** The options of all commands that read logs. */
export const LOG_OPTIONS: readonly Option[] = [
  {
    flags: '--format <format>',
    text: 'combined, main, vhost_combined, alb, elb, haproxy, traefik, envoy, caddy, pino, json, w3c, or the text of a format of nginx, Apache, HAProxy or Envoy; default: detected from the first lines',
    values: [
      'combined',
      'main',
      'vhost_combined',
      'alb',
      'elb',
      'haproxy',
      'traefik',
      'envoy',
      'caddy',
      'pino',
      'json',
      'w3c',
    ],
  },
  {
    flags: '--field <name=path>',
    text: 'where lines of JSON have time, started, duration, address, request, method, path or status, such as address=client.ip',
    repeats: true,
  },
  {
    flags: '--duration-unit <unit>',
    text: 'the unit of durations: s, ms, us or ns; default: that of the format',
    values: ['s', 'ms', 'us', 'ns'],
  },
  { flags: '--trust <network>', text: 'a proxy that is trusted, as in trustedProxies of your server', repeats: true },
  { flags: '--address-header <name>', text: 'the header in which it passes the address; default: x-forwarded-for' },
];

/** The option of commands whose JSON can also be written to a file. */
export const JSON_FILE_OPTION: Option = {
  flags: '--json-file <file>',
  text: 'also write the result as JSON to a file',
};

/** Returns an example of a command that reads limits. It reads them from stdin, so that it works in any folder. */
export function limitsExample(command: string): string {
  return `echo 'Orders: { count: 300, period: 3h, idFormat: accountId }' |\n  sluice ${command}`;
}

/** Returns an example of a command for one bucket. */
export function bucketExample(command: string): string {
  return limitsExample(`${command} --redis redis://127.0.0.1:6379 - Orders 12345678`);
}
