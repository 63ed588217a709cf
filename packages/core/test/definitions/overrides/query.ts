type Settle = (give: (value: unknown) => void, refuse: (why: unknown) => void) => void;

/** What many database clients give: no promise, but it has a `then`. */
export function query(then: Settle): object {
  // oxlint-disable-next-line unicorn/no-thenable -- to be one is its purpose
  return { then };
}
