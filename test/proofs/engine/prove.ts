import { counterexampleOf, randomPlays, type Counterexample } from './counterexample.ts';
import { Evidence } from './evidence.ts';
import { takeSuppositions } from './logic.ts';
import { beginExpressions } from './operators.ts';
import { onPath, Path, type Beginning } from './path.ts';
import { play, PlainScenario } from './plain-scenario.ts';
import { queries } from './solver.ts';
import { Refuted, type Theorem } from './theorem.ts';
import { UnknownScenario } from './unknown-scenario.ts';

/** The outcome of a theorem. */
export interface Proof {
  readonly theorem: Theorem;
  /** Undefined if it is proved. Otherwise why not, in words. */
  readonly problem: string | undefined;
  readonly counterexample: Counterexample | undefined;
  readonly paths: number;
  readonly claims: number;
  /** How many sums can exceed 2^53, on any path. */
  readonly roundings: number;
  readonly queries: number;
  readonly seconds: number;
}

/** More paths than these are a theorem that has to be divided. */
const MOST_PATHS = 5000;
/** Numbers on which a proved theorem is tried: an error of the engine would show there. */
const TRIES = 150;

/** Proves a theorem on all paths, or finds out why it can't. */
export function prove(theorem: Theorem): Proof {
  const start = performance.now();
  const asked = queries.count;
  const sums = { paths: 0, claims: 0, roundings: 0 };
  const left: Beginning[] = [{ choices: [], models: [] }];
  const ended = (problem?: string, counterexample?: Counterexample): Proof => {
    const seconds = (performance.now() - start) / 1000;
    return { theorem, problem, counterexample, ...sums, queries: queries.count - asked, seconds };
  };
  const evidence = new Evidence(theorem);
  for (let given = left.pop(); given !== undefined; given = left.pop()) {
    const path = new Path(given, theorem.isArithmetic !== true);
    const scenario = new UnknownScenario(path, evidence);
    beginExpressions();
    takeSuppositions();
    try {
      const isPossible = onPath(path, () => {
        theorem.run(scenario);
        path.prove();
      });
      if (isPossible) {
        sums.paths++;
        sums.claims += scenario.claims;
        if (scenario.claims === 0) return ended('a path has no claim');
      }
      evidence.ended(path, scenario, isPossible);
    } catch (error) {
      const refuted = error instanceof Refuted ? error : undefined;
      const counterexample = counterexampleOf(theorem, path, scenario.choices, refuted);
      return ended(problemOf(error, refuted), counterexample);
    }
    sums.roundings += path.roundings;
    left.push(...path.others);
    if (sums.paths > MOST_PATHS) return ended(`there are more than ${MOST_PATHS} paths`);
  }
  if (sums.claims === 0) return ended('its assumptions exclude each other, so it claims nothing');
  const empty = evidence.problem();
  if (empty !== undefined) return ended(empty);
  if (theorem.isArithmetic === true) return ended();
  const wrong = randomPlays(theorem, TRIES, { choices: new Map(), fixed: false }).next().value;
  if (wrong === undefined) return ended();
  const played = play(theorem, PlainScenario.of(wrong)) as Counterexample;
  return ended('it is proved, but false on plain numbers: the engine is wrong', played);
}

function problemOf(error: unknown, refuted: Refuted | undefined): string {
  if (refuted === undefined) return `the code ends with an error: ${(error as Error).stack ?? String(error)}`;
  return refuted.verdict === 'sat' ? `not always: ${refuted.claim}` : `the solver can't tell: ${refuted.claim}`;
}
