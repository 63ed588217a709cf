import { MOST_TOKENS } from './estimate.ts';
import type { Tokens } from './weights.ts';

/** The tokens that a model reports to have used, in the form of the AI SDK. Each number may be missing. */
export interface Usage {
  readonly inputTokens?:
    | Partial<Readonly<Record<'total' | 'noCache' | 'cacheRead' | 'cacheWrite', number | undefined>>>
    | undefined;
  readonly outputTokens?: Partial<Readonly<Record<'total' | 'text' | 'reasoning', number | undefined>>> | undefined;
}

/** The tokens of a usage. */
export interface CountedUsage {
  readonly tokens: Tokens;
  /** The numbers in it that none can be. */
  readonly wrong: readonly unknown[];
  /** Whether it has the tokens of both the prompt and the answer. */
  readonly isWhole: boolean;
}

type Counts = Readonly<Record<string, number | undefined>>;

/**
 * Counts the tokens of a usage. What a total has more than its known parts counts as the usual kind, not cached and not
 * reasoning; a number that is missing or wrong is the expected one, and so are all where no number is above zero.
 */
export function tokensOfUsage(usage: Usage | undefined, expected: Tokens): CountedUsage {
  const wrong: unknown[] = [];
  const count = (value: unknown): number | undefined => {
    if (isCount(value)) return value;
    if (value !== undefined && value !== null) wrong.push(value);
    return undefined;
  };
  const { inputTokens: asked, outputTokens: answered } = usage ?? {};
  const [noCache, sent] = [count(asked?.noCache), count(asked?.total)];
  const [text, said] = [count(answered?.text), count(answered?.total)];
  const [cacheRead, cacheWrite] = [count(asked?.cacheRead) ?? 0, count(asked?.cacheWrite) ?? 0];
  const reasoning = count(answered?.reasoning) ?? ((text ?? said) === undefined ? expected.reasoning : 0);
  const input = usual(noCache, sent, cacheRead + cacheWrite, expected.input);
  const output = usual(text, said, reasoning, expected.output + expected.reasoning);
  if (!hasCounts(usage)) return { tokens: expected, wrong, isWhole: false };
  const isWhole = (noCache ?? sent) !== undefined && (text ?? said) !== undefined;
  return { tokens: { input, cacheRead, cacheWrite, output, reasoning }, wrong, isWhole };
}

/** Whether a usage has a number above zero: some gateways send one without numbers, or of zeros, where they know none. */
export function hasCounts({ inputTokens, outputTokens }: Usage = {}): boolean {
  return [inputTokens, outputTokens].some((counts) => Object.values(counts ?? {}).some((n) => isCount(n) && n > 0));
}

/** A usage that came in pieces: of each number the last that was given. Providers count from the beginning in each. */
export function mergedUsage(known: Usage | undefined, later: Usage | undefined): Usage | undefined {
  if (!hasCounts(later)) return known ?? later;
  if (!hasCounts(known)) return later;
  return {
    inputTokens: { ...known?.inputTokens, ...given(later?.inputTokens) },
    outputTokens: { ...known?.outputTokens, ...given(later?.outputTokens) },
  };
}

function given(counts: Counts | undefined): Counts {
  return Object.fromEntries(Object.entries(counts ?? {}).filter(([, n]) => n !== undefined && n !== null));
}

/** The tokens of the usual kind: those that are known, and those of the total that no other kind has. */
function usual(known: number | undefined, total: number | undefined, others: number, expected: number): number {
  const whole = total ?? (known === undefined ? expected : 0);
  return Math.max(known ?? 0, whole - others);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
}
