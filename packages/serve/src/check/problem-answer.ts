/** An answer of this service that is not a decision. */
export interface ProblemAnswer {
  readonly status: number;
  readonly body: string;
}

/** Returns an answer with problem details (RFC 9457). */
export function problemAnswer(status: number, title: string, detail: string): ProblemAnswer {
  return { status, body: JSON.stringify({ type: 'about:blank', title, status, detail }) };
}

export const NOT_TRUSTED: ProblemAnswer = problemAnswer(
  403,
  'Forbidden',
  'This service answers only proxies that it is told to trust.',
);

/** Says nothing of the id, which may be a secret of someone else. */
export const INVALID_ID: ProblemAnswer = problemAnswer(
  400,
  'Bad request',
  'A value that identifies the client is not valid, or the request costs more than its limit can ever allow.',
);

export const FAILED: ProblemAnswer = problemAnswer(500, 'Internal server error', 'The request could not be decided.');

/** For Envoy, which chooses the status itself: 429, unless it is configured otherwise. */
export const NOT_ALLOWED: ProblemAnswer = problemAnswer(
  429,
  'Too many requests',
  'The request is not allowed. Sending it again will not help.',
);
