import { SluiceError } from '../checks/errors.ts';

/** The kinds of limits. Which one a limit has follows from its options. */
export type LimitKind = keyof typeof OPTIONS;

/** The options of each kind beside those that every limit has. */
const OPTIONS = {
  rate: ['burst', 'count', 'period', 'maxDebt', 'maxWait', 'atMost', 'borrow', 'overshoot', 'exact'],
  quota: ['count', 'per', 'timeZone', 'anchor', 'warnAt', 'exact'],
  concurrency: ['concurrency', 'lease', 'scope', 'block', 'exact'],
  load: ['load'],
} as const;

/** All options of all kinds, each once. */
export const KIND_OPTIONS: readonly string[] = [...new Set(Object.values(OPTIONS).flat())];

/** The options of each kind that shows which kind it is. Without any of them it is a rate. */
const MARKS = [
  ['quota', 'per'],
  ['concurrency', 'concurrency'],
  ['load', 'load'],
] as const;

const NOUNS: Readonly<Record<LimitKind, string>> = {
  rate: 'a rate',
  quota: 'a quota',
  concurrency: 'a concurrency limit',
  load: 'a load limit',
};

const EXAMPLES: Readonly<Record<LimitKind, string>> = {
  rate: "count: 100, period: '1m'",
  quota: "per: 'month'",
  concurrency: 'concurrency: 10',
  load: 'load: eventLoop()',
};

/**
 * Returns the kind of a limit.
 *
 * @param where - The path of the limit in error messages: `limits.Monthly`.
 * @throws {SluiceError} `ERR_LIMIT` for the options of two kinds.
 */
export function kindOf(where: string, definition: object): LimitKind {
  const given = definition as Readonly<Record<string, unknown>>;
  const kind = markedBy((mark) => given[mark] !== undefined) ?? missingKind(given) ?? 'rate';
  const own: readonly string[] = OPTIONS[kind];
  const foreign = KIND_OPTIONS.find((name) => given[name] !== undefined && !own.includes(name));
  if (foreign !== undefined)
    throw new SluiceError('ERR_LIMIT', `\`${where}.${foreign}\` must be ${demandOf(kind, foreign)}.`);
  return kind;
}

function markedBy(isGiven: (mark: string) => boolean): LimitKind | undefined {
  return MARKS.find(([, mark]) => isGiven(mark))?.[0];
}

/** The kind of a limit whose only number comes from elsewhere, and is missing: the error then names that option. */
function missingKind(given: Readonly<Record<string, unknown>>): LimitKind | undefined {
  if (OPTIONS.rate.some((name) => given[name] !== undefined)) return undefined;
  const marks = MARKS.filter(([, mark]) => Object.hasOwn(given, mark));
  return marks.length === 1 ? marks[0]![0] : undefined;
}

function demandOf(kind: LimitKind, foreign: string): string {
  const other = (Object.keys(OPTIONS) as LimitKind[]).find((each) =>
    (OPTIONS[each] as readonly string[]).includes(foreign),
  )!;
  const [mark, otherMark] = [kind, other].map((each) => MARKS.find(([marked]) => marked === each)?.[1]);
  if (mark === undefined) {
    return `given only with \`${otherMark}\`. For ${NOUNS[other]} add ${EXAMPLES[other]}; for a rate leave it out`;
  }
  if (foreign === 'overshoot') return `left out beside \`${mark}\`: only a rate can have one`;
  return (
    `left out beside \`${mark}\`: a limit is ${NOUNS[kind]} or ${NOUNS[other]}. ` +
    'For both define two limits, and use them in one batch'
  );
}
