import type { TextKind } from './text-kind.ts';

/** What stands for any text in a pattern, also for none. */
export const WILDCARD = '*';

/** The texts around the wildcards of a pattern, in one form: one text if there is no wildcard. */
export type PatternForm = readonly [string, ...string[]];

/** Whether a pattern has a wildcard. */
export function hasWildcard(pattern: string): boolean {
  return pattern.includes(WILDCARD);
}

/** Returns the forms of a pattern, the first as it is written: a spelling that fits one of them matches. */
export function patternForms(kind: TextKind, pattern: string): readonly [PatternForm, ...PatternForm[]] {
  const parts = pattern.split(WILDCARD);
  const [first, ...others] = parts.map((part) => kind.forms(part, parts.length > 1));
  // Each part has as many forms as the others. Many are equal.
  const forms = first!.map((form, i): PatternForm => [form, ...others.map((part) => part[i]!)]);
  return [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()] as [PatternForm, ...PatternForm[]];
}

/** Whether a spelling fits a form with wildcards. It takes time by its length, whatever the pattern. */
export function fits(spelling: string, form: PatternForm): boolean {
  const [first] = form;
  const last = form.length - 1;
  const end = spelling.length - form[last]!.length;
  if (!spelling.startsWith(first) || end < first.length || !spelling.endsWith(form[last]!)) return false;
  // The first place of each text leaves most to those behind it.
  let at = first.length;
  for (let i = 1; i < last; i++) {
    const found = spelling.indexOf(form[i]!, at);
    if (found === -1) return false;
    at = found + form[i]!.length;
  }
  return at <= end;
}
