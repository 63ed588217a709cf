/** What is broken, in which file of the package, its text, and what it becomes. */
export type Change = readonly [name: string, file: string, replace: string, by: string];
