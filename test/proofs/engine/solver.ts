import { createHash } from 'node:crypto';
import { init } from 'z3-solver';

/** A value of an unknown. One that is not whole is a double near it. */
export type Value = bigint | number;

/** The answer to the question whether a condition can be true. */
export type Verdict = 'sat' | 'unsat' | 'unknown';

/** What a query may cost, in the solver's own unit: the same on every machine. */
const RESOURCES = 4_000_000;

rememberFunctions();
const { Z3, em } = (await init()) as unknown as {
  Z3: { mk_config(): number; mk_context(config: number): number };
  em: {
    ccall(name: string, result: string, types: readonly string[], args: readonly unknown[]): string;
    PThread: { terminateAllThreads(): void };
  };
};

/**
 * The build of Z3 asserts at each call between its functions that its own list of them is the same as the table: looking that
 * up took a fifth of the time of all proofs. The functions in the table do not change.
 */
function rememberFunctions(): void {
  const { prototype } = (globalThis as unknown as { WebAssembly: { Table: { prototype: FunctionTable } } }).WebAssembly
    .Table;
  // oxlint-disable-next-line typescript/unbound-method -- called on each table
  const lookUp = prototype.get;
  // There is one table. Another one would only be slower.
  let last: FunctionTable | undefined;
  let known: unknown[] = [];
  prototype.get = function (this: FunctionTable, place: number): unknown {
    if (this !== last) [last, known] = [this, []];
    return (known[place] ??= lookUp.call(this, place));
  };
}

/** A table of WebAssembly, of which the types of Node have nothing. */
interface FunctionTable {
  get(place: number): unknown;
}

/** How many questions the solver was asked, for the report. */
export const queries = { count: 0, milliseconds: 0 };

/** A context grows with each query. */
const QUERIES_PER_CONTEXT = 1000;

let context = Z3.mk_context(Z3.mk_config());
let asked = 0;

/** Asks in this thread, and not in one of the solver: code that is executed needs the answer at once. */
function evaluated(text: string): string {
  return em.ccall('Z3_eval_smtlib2_string', 'string', ['number', 'string'], [context, text]).trim();
}

/** What was answered, by a hash of all that the question depends on: paths that begin alike ask the same. */
const answered = new Map<string, Solution>();

/** The hash of what is asserted for the rest of the session, and its end, which the solver has not been told yet. */
const session = { hash: '', untold: '' };

/** Begins anew, without any assertions. */
export function beginSession(): void {
  if (asked > QUERIES_PER_CONTEXT) [context, asked] = [Z3.mk_context(Z3.mk_config()), 0];
  else if (asked > 0) evaluated('(pop)');
  evaluated('(push)');
  asked++;
  session.hash = '';
  session.untold = '';
}

/**
 * Asserts something for the rest of the session, and asks whether more can be true with it.
 *
 * @param names - If so, the values of these constants are wanted.
 */
export function solve(
  lasting: string,
  more: string,
  names: readonly string[] = [],
  resources: number = RESOURCES,
): Solution {
  if (lasting !== '') session.hash = hashOf(session.hash, lasting);
  session.untold += lasting;
  const question = hashOf(session.hash, more, ...names, String(resources));
  const known = answered.get(question);
  if (known !== undefined) return known;
  const solution = asking(more, names, resources);
  answered.set(question, solution);
  return solution;
}

function hashOf(...texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64');
}

function asking(more: string, names: readonly string[], resources: number): Solution {
  const start = performance.now();
  asked++;
  queries.count++;
  const told = `${session.untold}(push)${more}`;
  session.untold = '';
  const answer = evaluated(`(set-option :rlimit ${resources})${told}(check-sat)`);
  const verdict = answer === 'sat' || answer === 'unsat' ? answer : 'unknown';
  if (verdict === 'unknown' && answer !== 'unknown') throw new Error(`The solver answers ${answer} to ${told}`);
  const values =
    verdict === 'sat' && names.length > 0 ? valuesOf(evaluated(`(get-value (${names.join(' ')}))`), names) : [];
  evaluated('(pop)');
  queries.milliseconds += performance.now() - start;
  return { verdict, values };
}

export interface Solution {
  readonly verdict: Verdict;
  /** In the order of the names. */
  readonly values: readonly Value[];
}

/** Lets the process end. */
export function closeSolver(): void {
  em.PThread.terminateAllThreads();
}

// `((|a| 5) (|b| (- 3)) (|c| (/ 1.0 3.0)))`
function valuesOf(text: string, names: readonly string[]): readonly Value[] {
  const tokens = text.match(/\|[^|]*\||[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const read = (): unknown => {
    const token = tokens[at++]!;
    if (token !== '(') return token;
    const list: unknown[] = [];
    while (tokens[at] !== ')') list.push(read());
    at++;
    return list;
  };
  const pairs = read() as [string, unknown][];
  return names.map((_, i) => numberOf(pairs[i]![1]));
}

function numberOf(value: unknown): Value {
  if (!Array.isArray(value)) return /^\d+$/.test(value as string) ? BigInt(value as string) : Number(value);
  const [operator, ...operands] = value as [string, ...unknown[]];
  const [first = NaN, second = NaN] = operands.map(numberOf);
  return operator === '-' ? -first : Number(first) / Number(second);
}
