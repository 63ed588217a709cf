import { SluiceError } from '@sluice/core';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ListenAddress } from './address.ts';

/** The path of the calls of operators, at the address of `metrics`. */
const PATH = '/operator';
/** A call names one bucket, whose id has at most 4,096 characters. */
const MAX_BODY_BYTES = 32_768;

/** What an operator is answered. */
export interface OperatorAnswer {
  /** The status of HTTP. */
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

/** Calls of operators, such as `sluice reset --store serve:http://127.0.0.1:9102`. */
export interface OperatorSettings {
  /**
   * What each call must have as `Authorization: Bearer <token>`: 32 to 512 visible characters of ASCII. It may be left out where
   * `metrics` listens on a unix socket, to which then only the user of this process can connect.
   */
  readonly token?: string | undefined;
  /** Answers what the body of a call contains as JSON. It may reject: the operator then learns nothing but that. */
  readonly answer: (request: unknown) => Promise<OperatorAnswer>;
}

/** @throws {SluiceError} `ERR_OPTION` for a token that is missing, too short, or can't be in a field. */
export function checkOperator({ token }: OperatorSettings, address: ListenAddress | undefined): void {
  if (address === undefined) throw wrong('operator', 'needs `metrics`, at whose address it is asked.');
  if (token === undefined && !('path' in address))
    throw wrong('operator.token', `must be given at an address that others can reach. ${REMEDY}`);
  // The message does not show it.
  if (token !== undefined && !/^[!-~]{32,512}$/.test(token))
    throw wrong('operator.token', `must have 32 to 512 visible characters of ASCII. ${REMEDY}`);
}

const REMEDY = 'For example the output of openssl rand -hex 32.';

function wrong(path: string, message: string): SluiceError {
  return new SluiceError('ERR_OPTION', message, { path });
}

/** Returns what answers the calls of operators: it returns false for a request that is none. */
export function operatorHandler({
  token,
  answer,
}: OperatorSettings): (incoming: IncomingMessage, outgoing: ServerResponse) => boolean {
  const expected = token === undefined ? undefined : digestOf(`Bearer ${token}`);
  return (incoming, outgoing) => {
    if (incoming.url !== PATH || incoming.method !== 'POST') return false;
    const isKnown = expected === undefined || timingSafeEqual(digestOf(incoming.headers.authorization ?? ''), expected);
    if (isKnown) void answerCall(incoming, outgoing, answer);
    else refuse(outgoing, 401);
    return true;
  };
}

/** Of equal length, whatever was sent, so that the time to compare reveals nothing about the token. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

async function answerCall(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: OperatorSettings['answer'],
): Promise<void> {
  try {
    const text = await bodyOf(incoming);
    if (text === undefined) return refuse(outgoing, 413);
    const { status, body } = await answer(JSON.parse(text));
    outgoing.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    outgoing.end(body);
  } catch (error) {
    // A body that breaks off has nobody to answer.
    if (!outgoing.destroyed) refuse(outgoing, error instanceof SyntaxError ? 400 : 500);
  }
}

/** Returns the body; undefined if it is too large. */
async function bodyOf(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

/** What is left of the body is not read. */
function refuse(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { Connection: 'close', 'Content-Length': 0 }).end();
}
