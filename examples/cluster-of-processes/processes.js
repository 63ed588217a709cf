/** How many processes share the limits: what each may let through by itself while Redis can't answer follows from it. */
export const PROCESSES = 4;
