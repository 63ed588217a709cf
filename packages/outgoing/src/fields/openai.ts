import { figuresIn } from './figures.ts';
import type { Dialect } from './lesson.ts';

/**
 * `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` of OpenAI, Azure and Groq. Reset is a duration such as `6m0s`, or
 * seconds (Azure), until the limit is as at its beginning: longer than a call would have to wait.
 */
export const openai: Dialect = {
  name: 'x-ratelimit-*-requests, -tokens',
  read(fields, nowMs) {
    return (['requests', 'tokens'] as const).flatMap((unit) =>
      figuresIn(
        fields,
        {
          limit: `x-ratelimit-limit-${unit}`,
          remaining: `x-ratelimit-remaining-${unit}`,
          reset: [`x-ratelimit-reset-${unit}`],
        },
        { of: unit, unit },
        nowMs,
      ),
    );
  },
};
