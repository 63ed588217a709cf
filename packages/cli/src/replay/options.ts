import type { Call, Option } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import type { FormatOptions } from './formats/detect.ts';
import type { AddressRule } from './keys/identities.ts';

/** The options of all commands that read logs. */
export const LOG_OPTIONS: readonly Option[] = [
  {
    flags: '--format <format>',
    text: 'combined, alb, caddy, traefik, envoy, pino, json, or the text of an nginx log_format; default: found by the first lines',
  },
  {
    flags: '--field <name=path>',
    text: 'where lines of JSON have time, started, duration, address, request, method, path or status, such as address=client.ip',
    repeats: true,
  },
  { flags: '--trust <network>', text: 'a proxy that is trusted, as in trustedProxies of your server', repeats: true },
  { flags: '--address-header <name>', text: 'the header in which it passes the address; default: x-forwarded-for' },
];

/** Returns the format that was asked for. */
export function formatOptions(call: Call): FormatOptions {
  return { format: call.text('format'), fields: call.texts('field') };
}

/** Returns how addresses are found. */
export function addressRule(call: Call): AddressRule {
  const trusted = call.texts('trust');
  return {
    trustedProxies: trusted.length === 0 ? undefined : trusted,
    addressHeader: call.text('addressHeader'),
  };
}

/** Returns the part of `--deny-at-most`, such as `0.1%`, from 0 to 1. */
export function denyAtMost(call: Call): number {
  const text = call.text('denyAtMost') ?? '0.1%';
  const [, number] = /^(\d+(?:\.\d+)?)\s*%$/.exec(text) ?? [];
  const part = Number(number) / 100;
  if (part >= 0 && part < 1) return part;
  throw new UsageError(
    `\`--deny-at-most\` must be a percentage of the ids from 0% to below 100%, but was '${text}'. For example --deny-at-most 0.1%.`,
  );
}
