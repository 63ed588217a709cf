import type { Time } from '@sluice/core';
import { messageOf } from '@sluice/core/kit';
import { connect as connectHttp2 } from 'node:http2';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { replyTo, type Reply } from '../console/reply.ts';
import { timeoutOf } from '../redis/options.ts';
import { Check, type Examined, type Finding } from './finding.ts';
import { timesOf } from './round-trips.ts';

const REACH = 'Start sluice serve there, or correct the address in `--store`.';
const OTHER = 'Another program listens there. Correct the address in `--store`, or the port of sluice serve.';
const TRUST = 'Start sluice serve with --trust and the network of the proxy that asks.';
const STORE = 'Look at its store: sluice doctor --store, with the address that sluice serve has.';
const DRAINING = 'It is ending. Ask again when the next one has started.';

/** An answer by gRPC is shorter. */
const MOST_BYTES = 10_000;

/** Looks at a `sluice serve`, as a proxy does that asks it by HTTP or gRPC. No call takes a token. */
export async function examineService(call: Call, address: string, deadlineMs: number): Promise<readonly Examined[]> {
  const url = urlOf(address);
  const timeoutMs = timeoutOf(call);
  const isHttp = url.protocol === 'http:';
  const { time } = call.console;
  const health = (): Promise<Reply> =>
    isHttp ? getHttp(new URL('/health', url), timeoutMs) : checkGrpc(url, timeoutMs, time);
  const findings: Finding[] = [];
  try {
    const first = await health();
    findings.push(...(isHttp ? await ofHttp(url, first, timeoutMs) : ofGrpc(first)));
    if (findings.every(({ verdict }) => verdict === 'ok')) findings.push(await timesOf(health, { deadlineMs, time }));
  } catch (error) {
    findings.push(new Check('service').wrong(`it does not answer: ${messageOf(error)}`, REACH));
  }
  return [{ server: url.host, findings }];
}

function urlOf(address: string): URL {
  if (/^(?:http|grpc):\/\/[^/@?#]+\/?$/.test(address) && URL.canParse(address)) return new URL(address);
  const examples = '--store serve:http://127.0.0.1:9090 or --store serve:grpc://127.0.0.1:9091';
  throw new UsageError(
    `\`--store serve:\` must have a URL of http or grpc without a path and without a user or token. For example ${examples}.`,
  );
}

async function ofHttp(url: URL, { status, text }: Reply, timeoutMs: number): Promise<readonly Finding[]> {
  const check = new Check('health');
  const isOurs = (status === 200 && /^ok(?:, .*)?\n$/.test(text)) || (status === 503 && text === 'draining\n');
  if (!isOurs) return [check.wrong(`not that of sluice serve: ${status}`, OTHER)];
  if (status === 503) return [check.wrong('draining', DRAINING)];
  if (text !== 'ok\n') return [check.wrong(text.slice('ok, '.length, -1), STORE)];
  // A path without a table: it is answered to whom it trusts, and decides nothing.
  const asked = await getHttp(new URL('/', url), timeoutMs);
  const checks = new Check('checks');
  if (asked.status === 404 && asked.text.includes('There is no table')) return [check.ok('ok'), checks.ok('answered')];
  if (asked.status === 404) return [checks.wrong('it serves no checks, only /health', OTHER)];
  return [check.ok('ok'), checks.wrong(`this host is not trusted: ${asked.status}`, TRUST)];
}

/** Status codes of gRPC. */
const [OK, NOT_FOUND, PERMISSION_DENIED] = [0, 5, 7];
/** Of `grpc.health.v1.HealthCheckResponse`: the field 1 with SERVING. */
const SERVING = '\u0008\u0001';

function ofGrpc({ status, text }: Reply): readonly Finding[] {
  const check = new Check('health');
  if (status === OK && text === SERVING) return [check.ok('serving')];
  if (status === OK) return [check.wrong('not serving', DRAINING)];
  if (status === PERMISSION_DENIED) return [check.wrong('this host is not trusted', TRUST)];
  const found = status === NOT_FOUND ? 'it has no rate limit service' : `it answers with the status ${status} of gRPC`;
  return [check.wrong(found, OTHER)];
}

function getHttp({ hostname, port, pathname }: URL, timeoutMs: number): Promise<Reply> {
  return replyTo({ host: hostname.replace(/^\[(.*)\]$/, '$1'), port, path: pathname, timeoutMs });
}

const SERVICE = 'envoy.service.ratelimit.v3.RateLimitService';
const FRAME_HEAD = 5;

/** Calls `grpc.health.v1.Health/Check` for the rate limit service. */
function checkGrpc(url: URL, timeoutMs: number, time: Time): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`http://${url.host}`);
    const fail = (error: Error): void => {
      late.cancel();
      session.destroy();
      reject(error);
    };
    // For the whole answer: another program may send without end.
    const late = time.alarm(timeoutMs, () => fail(new Error(`no answer within ${timeoutMs} ms`)));
    session.on('error', fail);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let [body, status] = [Buffer.alloc(0), NaN];
    const note = (fields: Readonly<Record<string, unknown>>): void => {
      if (fields['grpc-status'] !== undefined) status = Number(fields['grpc-status']);
    };
    stream.on('response', note).on('trailers', note);
    stream.on('data', (chunk: Buffer) => {
      if (body.length < MOST_BYTES) body = Buffer.concat([body, chunk]);
    });
    stream.on('error', fail).on('close', () => {
      late.cancel();
      session.close();
      resolve({ status, text: body.toString('latin1', FRAME_HEAD) });
    });
    stream.end(framed(Buffer.concat([Buffer.from([0x0a, SERVICE.length]), Buffer.from(SERVICE)])));
  });
}

function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}
