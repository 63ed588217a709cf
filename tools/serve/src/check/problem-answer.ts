/** An answer of this service that is not a decision. */
export interface ProblemAnswer {
  readonly status: number;
  readonly body: string;
}

/** The fields of every answer of this kind. */
export const PROBLEM_FIELDS = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' } as const;

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
  'A value that identifies the client is not valid.',
);

export const FAILED: ProblemAnswer = problemAnswer(500, 'Internal server error', 'The request could not be decided.');

export const MALFORMED: ProblemAnswer = problemAnswer(400, 'Bad request', 'The request is malformed.');

export const TOO_LARGE: ProblemAnswer = problemAnswer(
  431,
  'Request header fields too large',
  'The header fields of the request are too large.',
);

export const TOO_LATE: ProblemAnswer = problemAnswer(408, 'Request timeout', 'The request took too long to arrive.');

/** For Envoy, which chooses the status itself: 429, unless it is configured otherwise. */
export const NOT_ALLOWED: ProblemAnswer = problemAnswer(
  429,
  'Too many requests',
  'The request is not allowed. Sending it again will not help.',
);
