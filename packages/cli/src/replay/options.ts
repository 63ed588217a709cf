import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import type { FormatOptions } from './formats/detect.ts';
import { DURATION_UNITS, type DurationUnit } from './formats/line-parser.ts';
import type { AddressRule } from './keys/identities.ts';

/** Returns the format that was asked for. */
export function formatOptions(call: Call): FormatOptions {
  return { format: call.text('format'), fields: call.texts('field'), durationUnit: durationUnit(call) };
}

function durationUnit(call: Call): DurationUnit | undefined {
  const text = call.text('durationUnit');
  if (text === undefined || Object.hasOwn(DURATION_UNITS, text)) return text as DurationUnit | undefined;
  const units = Object.keys(DURATION_UNITS).join(', ');
  throw new UsageError(
    `\`--duration-unit\` must be one of ${units}, but was '${text}'. For example --duration-unit ms.`,
  );
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
