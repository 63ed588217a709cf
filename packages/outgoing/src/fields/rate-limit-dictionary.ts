import { amountIn } from './figures.ts';
import { fieldOf } from './field-source.ts';
import type { Dialect } from './lesson.ts';
import { waitIn } from './wait.ts';

/** `RateLimit` as a dictionary, of draft-ietf-httpapi-ratelimit-headers-07: `limit=100, remaining=50, reset=5`. */
export const rateLimitDictionary: Dialect = {
  name: 'RateLimit, draft 7',
  read(fields, nowMs) {
    const text = fieldOf(fields, 'ratelimit');
    if (text === undefined) return [];
    const figures = new Map<string, string>();
    for (const part of text.split(/[,;]/)) {
      const equals = part.indexOf('=');
      if (equals > 0) figures.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
    }
    const remaining = amountIn(figures.get('remaining'));
    if (remaining === undefined) return [];
    return [{ of: 'requests', unit: 'requests', remaining, waitMs: waitIn(figures.get('reset'), nowMs) }];
  },
};
