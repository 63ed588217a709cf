/** Calls all listeners. What one throws changes nothing for the others, and no decision. */
export function tellAll<Listener>(listeners: Iterable<Listener>, call: (listener: Listener) => void): void {
  for (const listener of listeners) {
    try {
      call(listener);
    } catch {
      // There is nobody to tell it to: a listener records its own errors.
    }
  }
}
