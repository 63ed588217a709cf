/** What requests wait at. */
interface Gate {
  /** How many have come so far. */
  readonly state: { readonly waiting: number };
  readonly open: () => void;
  /** Waits until the gate is open. */
  readonly pass: () => Promise<void>;
}

/** A gate that requests wait at, until it is opened. */
export function gate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  const state = { waiting: 0 };
  return { state, open: () => open(), pass: () => (state.waiting++, opened) };
}
