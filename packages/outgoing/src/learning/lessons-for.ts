import type { Lesson } from '../fields/lesson.ts';
import type { CountedTarget } from './learnt-bucket.ts';
import type { LearnNames } from './targets.ts';

/** What the fields of an answer say for one bucket. */
export interface Taught {
  /** What is left, at least 1. */
  readonly remaining: number | undefined;
  /** How long nothing is left: the longest of the limits that are used up. */
  readonly usedUpMs: number | undefined;
}

/** Finds for each target of a call what the provider says about it. Of several lessons the stricter ones count. */
export function lessonsFor(
  counted: readonly CountedTarget[],
  lessons: readonly Lesson[],
  learn: LearnNames,
): readonly Taught[] {
  return counted.map(({ target }, i) =>
    together(
      lessons.filter((lesson) => {
        const name = learn[lesson.of];
        if (name !== undefined && counted.some((other) => other.target.limit.name === name))
          return target.limit.name === name;
        if (i > 0) return false;
        // What is used up denies every call, whatever is counted.
        return lesson.unit === 'requests'
          ? lesson.remaining === 0 || target.cost === 1
          : lesson.unit === 'tokens' && lesson.remaining === 0;
      }),
    ),
  );
}

function together(lessons: readonly Lesson[]): Taught {
  let remaining: number | undefined;
  let usedUpMs: number | undefined;
  for (const lesson of lessons) {
    // Without a time, one call asks again.
    if (lesson.remaining === 0) usedUpMs = Math.max(usedUpMs ?? 0, lesson.waitMs ?? 0);
    else remaining = Math.min(remaining ?? Infinity, lesson.remaining);
  }
  return { remaining, usedUpMs };
}
