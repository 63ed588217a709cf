/** Returns the status for what a user's function threw, where no framework handles errors: 400 or 431 if the error has it. */
export function statusOf(cause: unknown): 400 | 431 | 500 {
  try {
    const status = (cause as { status?: unknown } | null)?.status;
    return status === 400 || status === 431 ? status : 500;
  } catch {
    // A getter or a Proxy threw.
    return 500;
  }
}
