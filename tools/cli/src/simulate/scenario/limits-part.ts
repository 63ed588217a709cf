import { checkLimits, loadWithoutKeys } from '@sluice/config';
import { by, type Limits } from '@sluice/core';
import { kindOf } from '@sluice/core/kit';
import { moreFormats } from '../../limits/files.ts';
import { ScenarioError, type Value } from './value.ts';

/** The limits of a scenario, or the mistakes in them as `line:column: message`. */
export type LimitsPart = { readonly limits: Limits } | { readonly mistakes: readonly string[] };

/**
 * Reads the limits of a scenario as those of a limits file, with the same checks and messages.
 *
 * @param text - The whole scenario. What is not part of the limits is replaced by spaces, so that positions stay right.
 * @param place - Where the limits are.
 */
export async function readLimitsPart(text: string, place: Value): Promise<LimitsPart> {
  if (place.entries().size === 0) throw place.wrong('limits by name');
  const [start, end] = place.range;
  const blank = (part: string): string => part.replaceAll(/[^\n]/g, ' ');
  const alone = blank(text.slice(0, start)) + text.slice(start, end) + blank(text.slice(end));
  const options = { defaults: (): string => alone, formats: moreFormats() };
  const problems = await checkLimits(options);
  if (problems.length > 0) {
    return { mistakes: problems.map(({ line, column, message }) => `${line ?? 1}:${column ?? 1}: ${message}`) };
  }
  const { limits } = await loadWithoutKeys(options);
  for (const [name, definition] of Object.entries(limits)) {
    const kind = kindOf(name, definition).name;
    if (kind !== 'load' && kind !== 'concurrency') continue;
    const demand = `a rate or a quota: a simulated request takes no time, so a ${kind} limit has nothing to count`;
    throw new ScenarioError(place.entries().get(name)!.offset, `\`limits.${name}\` must be ${demand}.`);
  }
  return { limits: byClientName(limits) };
}

/** The ids of a simulation are the names of its clients, whatever the format of the ids in production. */
function byClientName(limits: Limits): Limits {
  const entries = Object.entries(limits).map(([name, definition]) => {
    const { name: format } = definition.key!.format;
    // All clients share the one bucket of everyone().
    const key = by(undefined, {
      format: format === 'everyone' ? definition.key!.format : { name: format, canonical: (id) => id },
    });
    return [name, { ...definition, key }];
  });
  return Object.fromEntries(entries) as Limits;
}
