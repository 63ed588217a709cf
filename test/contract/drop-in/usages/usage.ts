/** What a client gets. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** A documented way to use a limiter, with its own store or with ours. */
export interface Usage {
  readonly name: string;
  readonly answers: (isOurs: boolean) => Promise<readonly Answer[]>;
}

const FIELD = /ratelimit|rate-limit|retry-after/i;

/** An answer with its fields about limits. */
export function answerOf(status: number, body: string, fields: Iterable<readonly [string, unknown]>): Answer {
  const own = [...fields].filter(([name]) => FIELD.test(name)).map(([name, value]) => [name, String(value)]);
  return { status, body, fields: Object.fromEntries(own) };
}

export async function answerOfResponse(response: Response): Promise<Answer> {
  return answerOf(response.status, await response.text(), response.headers);
}

/** Times, in which all stores of ours differ: a full bucket, or the next token, is earlier than the end of a window. */
const TIMES: readonly (readonly [RegExp, string])[] = [
  [/\b(reset|t)=\d+/g, '$1=…'],
  [/retry in [^"]+/g, 'retry in …'],
];
const TIME_FIELD = /reset$|retry-after$/i;

/** An answer without its times. */
export function withoutTimes({ status, body, fields }: Answer): Answer {
  const without = (text: string): string => TIMES.reduce((left, [time, rest]) => left.replace(time, rest), text);
  const entries = Object.entries(fields).map(([name, value]) => [name, TIME_FIELD.test(name) ? '…' : without(value)]);
  return { status, body: without(body), fields: Object.fromEntries(entries) };
}

/** The times that an answer has in its fields, in seconds. */
export function timesOf({ fields }: Answer): number[] {
  return Object.entries(fields).flatMap(([name, value]) =>
    TIME_FIELD.test(name)
      ? [Number(value)]
      : [...value.matchAll(/\b(?:reset|t)=(\d+)/g)].map(([, time]) => Number(time)),
  );
}

/** Asks one after another. */
export async function inTurn<T>(asks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const all: T[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after another
  for (const ask of asks) all.push(await ask());
  return all;
}
