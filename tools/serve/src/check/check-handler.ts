// The room check: a proxy that asks by HTTP: who asks, who the client is, the answer.
import type { Limiter, SluiceError, Time } from '@sluice/core';
import { responseTo, type ClientAddressFinder, type TrustedProxies } from '@sluice/core/http';
import { listed, messageOf } from '@sluice/core/kit';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { decideUses, type UsesDecided } from '../deciding/decide-uses.ts';
import { withLargestCosts, type RequestUse } from '../deciding/use.ts';
import type { CheckAnswer, Metrics } from '../metrics/metrics.ts';
import { reportCostOverBurst, reportUnderAllRules, type ServiceEvent } from '../metrics/event.ts';
import type { Snapshot } from '../files/snapshot.ts';
import { MAX_RULES } from '../spellings/spellings.ts';
import type { HttpTable } from '../tables/table.ts';
import { AskedRequest } from './asked-request.ts';
import { MisconfiguredProxy } from './misconfigured-proxy.ts';
import {
  FAILED,
  INVALID_ID,
  NOT_TRUSTED,
  problemAnswer,
  PROBLEM_FIELDS,
  type ProblemAnswer,
} from './problem-answer.ts';
import { unanswerable } from './unanswerable.ts';

const PATH = '/check/';

/** What the answers of a service are made of. */
export interface ServiceParts {
  readonly limiter: Limiter;
  readonly time: Time;
  /** The content of the files that is in use now. */
  readonly snapshot: () => Snapshot;
  readonly trusted: TrustedProxies;
  readonly findAddress: ClientAddressFinder;
  readonly metrics: Metrics;
  readonly emit: (event: ServiceEvent) => void;
  readonly isDraining: () => boolean;
}

/** By the state of the store. Without it the service still decides, so a restart would not help. */
const HEALTHS = { up: 'ok', failing: 'ok, by failure policies: the store does not answer' } as const;

/** Answers proxies that ask by HTTP about the request of a client. */
export class CheckHandler {
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  /** Answers one request. Never rejects. */
  async handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    // A proxy may send the body of its client, which is not needed.
    incoming.resume();
    if (this.#parts.isDraining()) outgoing.setHeader('Connection', 'close');
    const [path = ''] = (incoming.url ?? '').split('?', 1);
    if (path === '/health') return this.#health(outgoing);
    const asked = new AskedRequest(incoming, this.#parts.findAddress);
    const { metrics, emit, snapshot } = this.#parts;
    if (!this.#parts.trusted.trusts(asked.peer)) {
      metrics.rejectedPeer();
      const from = asked.peer === 'unix' ? 'a unix socket' : String(asked.peer ?? 'an unknown address');
      emit({
        type: 'peer-rejected',
        message: `A request from ${from} was rejected, because it is not in trustedProxies.`,
      });
      return send(outgoing, NOT_TRUSTED);
    }
    const table = path.startsWith(PATH) ? snapshot().tables.http.get(path.slice(PATH.length)) : undefined;
    if (table === undefined) return this.#unknown(path, outgoing);
    const problem = unanswerable(incoming);
    if (problem === undefined) return this.#decide(table, asked, outgoing);
    metrics.answered(`http:${table.name}`, 'invalid');
    emit({ type: 'proxy-misconfigured', message: problem.message });
    send(outgoing, problem.answer);
  }

  #health(outgoing: ServerResponse): void {
    const { isDraining, limiter } = this.#parts;
    const [status, text] = isDraining() ? [503, 'draining'] : [200, HEALTHS[limiter.status().state]];
    outgoing.writeHead(status, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' });
    outgoing.end(`${text}\n`);
  }

  #unknown(path: string, outgoing: ServerResponse): void {
    const names = [...this.#parts.snapshot().tables.http.keys()].map((name) => PATH + name);
    const message = `A proxy asked for a path that has no table. Paths: ${listed(names) || 'none'}.`;
    if (path.startsWith(PATH)) this.#parts.emit({ type: 'proxy-misconfigured', message });
    send(outgoing, problemAnswer(404, 'Not found', 'There is no table of this name.'));
  }

  async #decide(table: HttpTable, asked: AskedRequest, outgoing: ServerResponse): Promise<void> {
    const { limiter, metrics, emit } = this.#parts;
    let answer: CheckAnswer = 'error';
    try {
      const { uses, isInvalid } = usesOf(table, asked, this.#parts.snapshot());
      if (asked.hasUnknownSpellings) reportUnderAllRules(table.name, emit);
      const decided = await decideUses(limiter, uses);
      answer = this.#answer(table, decided, { outgoing, isInvalid });
    } catch (error) {
      this.#failed(error, outgoing);
    }
    metrics.answered(`http:${table.name}`, answer);
  }

  #answer(
    table: HttpTable,
    { decision }: UsesDecided,
    { outgoing, isInvalid }: { readonly outgoing: ServerResponse; readonly isInvalid: boolean },
  ): CheckAnswer {
    const { time, emit } = this.#parts;
    reportCostOverBurst(decision, emit);
    const fields = decision === null ? undefined : responseTo(decision, { fields: table.fields, time });
    if (fields !== undefined) for (const [name, value] of fields.fields) outgoing.setHeader(name, value);
    const denial = fields?.denial ?? null;
    if (denial !== null) {
      send(outgoing, denial);
      return decision!.outcome === 'unavailable' ? 'unavailable' : 'denied';
    }
    if (isInvalid) {
      send(outgoing, INVALID_ID);
      return 'invalid';
    }
    if (table.accelRedirect !== undefined) outgoing.setHeader('X-Accel-Redirect', table.accelRedirect);
    outgoing.setHeader('Content-Length', 0);
    outgoing.writeHead(200);
    outgoing.end();
    return 'allowed';
  }

  #failed(cause: unknown, outgoing: ServerResponse): void {
    const { emit } = this.#parts;
    if (cause instanceof MisconfiguredProxy) emit({ type: 'proxy-misconfigured', message: cause.message });
    else emit({ type: 'check-failed', cause, message: `A request could not be decided: ${messageOf(cause)}.` });
    if (!outgoing.headersSent) send(outgoing, FAILED);
  }
}

/** Returns what a request takes. A limit whose id is not valid does not keep the others from being decided. */
function usesOf(
  table: HttpTable,
  asked: AskedRequest,
  { formats }: Snapshot,
): { readonly uses: readonly RequestUse[]; readonly isInvalid: boolean } {
  const uses: RequestUse[] = [];
  let isInvalid = false;
  for (const rule of table.rules) {
    if (!asked.matches(rule)) continue;
    const { limit, cost, shadow } = rule;
    try {
      const id = asked.idFor(rule, formats.get(limit)!);
      if (id !== null) uses.push({ limit, id, cost, kind: 'spend', shadow });
    } catch (error) {
      if ((error as SluiceError).code !== 'ERR_ID') throw error;
      isInvalid ||= !shadow;
    }
  }
  if (uses.length > MAX_RULES && asked.hasUnknownSpellings) return { uses: [], isInvalid: true };
  return { uses: withLargestCosts(uses), isInvalid };
}

function send(outgoing: ServerResponse, { status, body }: ProblemAnswer): void {
  outgoing.writeHead(status, { ...PROBLEM_FIELDS, 'Content-Length': Buffer.byteLength(body) });
  outgoing.end(body);
}
