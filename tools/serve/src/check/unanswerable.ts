import { mayLackFields } from '@sluice/core/http';
import type { IncomingMessage } from 'node:http';
import { problemAnswer, type ProblemAnswer } from './problem-answer.ts';

/** Longer targets are not read: each character is looked at several times. */
const MAX_URI = 65_536;

/** Why a request can't be decided as it is. */
export interface Unanswerable {
  readonly answer: ProblemAnswer;
  /** What the proxy should do. */
  readonly message: string;
}

const TOO_MANY_LINES: Unanswerable = {
  answer: problemAnswer(431, 'Request header fields too large', 'The request has too many header fields.'),
  message:
    'A request was denied, because it has as many header lines as the server keeps, and those of the proxy may be among the others. Let the proxy send only the fields that your tables read: sluice serve --print-fields.',
};

const TOO_LONG: Unanswerable = {
  answer: problemAnswer(414, 'URI too long', `The target of the request has more than ${MAX_URI} bytes.`),
  message: `A request was denied, because its X-Forwarded-Uri has more than ${MAX_URI} bytes.`,
};

/**
 * Returns why a request can't be decided; undefined if it can. Such a request is denied: by what it lacks or has too much
 * of, a client would otherwise choose which limits apply to it.
 */
export function unanswerable(incoming: IncomingMessage): Unanswerable | undefined {
  if (mayLackFields(incoming)) return TOO_MANY_LINES;
  const uri = incoming.headers['x-forwarded-uri'];
  return uri !== undefined && uri.length > MAX_URI ? TOO_LONG : undefined;
}
