import { figuresIn } from './figures.ts';
import type { Dialect } from './lesson.ts';

/** `anthropic-ratelimit-*`: reset is a date of RFC 3339, at which the limit is full again. */
export const anthropic: Dialect = {
  name: 'anthropic-ratelimit-*',
  read(fields, nowMs) {
    return ['requests', 'tokens', 'input-tokens', 'output-tokens'].flatMap((of) => {
      const prefix = `anthropic-ratelimit-${of}`;
      const names = { limit: `${prefix}-limit`, remaining: `${prefix}-remaining`, reset: [`${prefix}-reset`] };
      return figuresIn(fields, names, { of, unit: of === 'requests' ? 'requests' : 'tokens' }, nowMs);
    });
  },
};
