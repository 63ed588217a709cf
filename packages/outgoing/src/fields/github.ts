import type { FieldSource } from './field-source.ts';

/** What GitHub demands at least after a denial by a secondary limit that says nothing else. */
const A_MINUTE_MS = 60_000;

/**
 * Returns how long to wait after a 429 of GitHub without a time, whose own limit is not used up: "wait for at least one minute
 * before retrying" (Rate limits for the REST API, "Exceeding the rate limit").
 */
export function secondaryWaitMs(fields: FieldSource): number | undefined {
  return fields.get('x-github-request-id') == undefined ? undefined : A_MINUTE_MS;
}
