/** Returns the status for what a user's function threw, where no framework handles errors: 400 if the error has it. */
export function statusOf(cause: unknown): 400 | 500 {
  try {
    return (cause as { status?: unknown } | null)?.status === 400 ? 400 : 500;
  } catch {
    // A getter or a Proxy threw.
    return 500;
  }
}
