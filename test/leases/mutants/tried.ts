/** How many mutants were tried, and how many of them nothing has found. */
export interface Tried {
  readonly mutants: number;
  readonly survivors: number;
}
