import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import type { FormatOptions } from './formats/detect.ts';
import { DURATION_UNITS, type DurationUnit } from './formats/line-parser.ts';
import type { AddressRule } from './keys/identities.ts';

/** The options of the commands that read logs. */
export interface LogOptions extends FormatOptions, AddressRule {
  /** The logs, `-` for stdin. */
  readonly files: readonly string[];
  /** Such as `POST /orders=5`. */
  readonly costs: readonly string[];
  /** The requests that limits apply to; none for all of them. */
  readonly only: readonly string[];
  /** The part of ids that a burst may deny, from 0 to 1. */
  readonly denyAtMost: number;
}

/** Returns the options of a command that reads logs. */
export function logOptions(call: Call): LogOptions {
  const trusted = call.texts('trust');
  return {
    files: call.args,
    format: call.text('format'),
    fields: call.texts('field'),
    durationUnit: durationUnit(call),
    trustedProxies: trusted.length === 0 ? undefined : trusted,
    addressHeader: call.text('addressHeader'),
    costs: call.texts('cost'),
    only: call.texts('only'),
    denyAtMost: denyAtMost(call),
  };
}

function durationUnit(call: Call): DurationUnit | undefined {
  const text = call.text('durationUnit');
  if (text === undefined || Object.hasOwn(DURATION_UNITS, text)) return text as DurationUnit | undefined;
  const units = Object.keys(DURATION_UNITS).join(', ');
  throw new UsageError(
    `\`--duration-unit\` must be one of ${units}, but was '${text}'. For example --duration-unit ms.`,
  );
}

/** Returns the part of `--deny-at-most`, such as `0.1%`, from 0 to 1. */
function denyAtMost(call: Call): number {
  const text = call.text('denyAtMost') ?? '0.1%';
  const [, number] = /^(\d+(?:\.\d+)?)\s*%$/.exec(text) ?? [];
  const part = Number(number) / 100;
  if (part >= 0 && part < 1) return part;
  throw new UsageError(
    `\`--deny-at-most\` must be a percentage of the ids from 0% to below 100%, but was '${text}'. For example --deny-at-most 0.1%.`,
  );
}
