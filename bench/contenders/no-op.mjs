/** Decides nothing: what the measuring itself costs. */
/** @type {import('./decider.ts').Contender} */
export const noOp = {
  answersAtOnce: true,
  bounded: true,
  decider: () => ({ decide: () => true, allowed: (answer) => answer }),
};
