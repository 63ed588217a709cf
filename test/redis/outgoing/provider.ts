// Runs a server for each scenario, counts all that it answers, and reports that when it is asked.
import type { Server } from 'node:http';
import { PEERS } from '../../contract/outgoing/peer-servers.ts';
import { LIMIT, SCENARIOS } from './scenarios.ts';

/** An answer of a server. */
export interface Answer {
  /** The process that has asked. */
  readonly process: number;
  /** Which call of it for this server. */
  readonly call: number;
  readonly status: number;
  /** When the request came, in milliseconds since 1970. */
  readonly atMs: number;
}

async function main(): Promise<void> {
  const servers = await Promise.all(SCENARIOS.map(({ peer }) => PEERS[peer]!.start(LIMIT)));
  const answers = servers.map(({ server }) => answersOf(server));
  process.on('message', () => void process.send!(answers, () => process.disconnect()));
  process.once('disconnect', () => void Promise.all(servers.map((each) => each.close())));
  process.send!(servers.map(({ port }) => `http://127.0.0.1:${port}/`));
}

/** Returns all answers of a server, to which each further one is added. */
function answersOf(server: Server): readonly Answer[] {
  const answers: Answer[] = [];
  server.on('request', ({ headers }, response) => {
    const atMs = Date.now();
    response.once('finish', () =>
      answers.push({
        process: Number(headers['x-process']),
        call: Number(headers['x-call']),
        status: response.statusCode,
        atMs,
      }),
    );
  });
  return answers;
}

void main();
