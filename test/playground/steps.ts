// Runs in a browser: what the playground decides in random cases.
import { Core, type Step } from '../../site/playground/core.ts';
import { numbersFrom, randomCase } from './random-cases.ts';

/** Returns the steps of so many cases, as JSON. */
export function stepsFrom(seed: number, cases: number): string {
  const random = numbersFrom(seed);
  const all: (readonly Step[])[] = [];
  for (let i = 0; i < cases; i++) {
    const given = randomCase(random);
    all.push(new Core(given).decide(given.arrivals));
  }
  return JSON.stringify(all);
}
