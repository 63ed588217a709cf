import { MOST_TOKENS } from './estimate.ts';
import type { Tokens } from './weights.ts';

/** The tokens that a model reports to have used, in the form of the AI SDK. Each number may be missing. */
export interface Usage {
  readonly inputTokens?:
    | Partial<Readonly<Record<'total' | 'noCache' | 'cacheRead' | 'cacheWrite', number | undefined>>>
    | undefined;
  readonly outputTokens?: Partial<Readonly<Record<'total' | 'text' | 'reasoning', number | undefined>>> | undefined;
}

/** The tokens of a usage, and the numbers in it that none can be. */
export interface CountedUsage {
  readonly tokens: Tokens;
  readonly wrong: readonly unknown[];
}

/**
 * Counts the tokens of a usage. What a total has more than its known parts counts as the usual kind, not cached and not
 * reasoning; a number that is missing or wrong is that of the estimate.
 */
export function tokensOfUsage(usage: Usage | undefined, estimate: Tokens): CountedUsage {
  const wrong: unknown[] = [];
  const count = (value: unknown): number | undefined => {
    if (isCount(value)) return value;
    if (value !== undefined && value !== null) wrong.push(value);
    return undefined;
  };
  const { inputTokens: given, outputTokens: answered } = usage ?? {};
  const cacheRead = count(given?.cacheRead) ?? 0;
  const cacheWrite = count(given?.cacheWrite) ?? 0;
  const reasoning = count(answered?.reasoning) ?? (hasCounts({ outputTokens: answered }) ? 0 : estimate.reasoning);
  const input = usual(count(given?.noCache), count(given?.total), cacheRead + cacheWrite, estimate.input);
  const output = usual(count(answered?.text), count(answered?.total), reasoning, estimate.output + estimate.reasoning);
  return { tokens: { input, cacheRead, cacheWrite, output, reasoning }, wrong };
}

/** Whether a usage has a number: some providers end a stream that failed with a usage without any. */
export function hasCounts({ inputTokens, outputTokens }: Usage = {}): boolean {
  return [inputTokens, outputTokens].some((counts) => Object.values(counts ?? {}).some((value) => isCount(value)));
}

/** The tokens of the usual kind: those that are known, and those of the total that no other kind has. */
function usual(known: number | undefined, total: number | undefined, others: number, estimated: number): number {
  const whole = total ?? (known === undefined ? estimated : 0);
  return Math.max(known ?? 0, whole - others);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
}
