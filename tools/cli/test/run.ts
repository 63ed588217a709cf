import { PassThrough } from 'node:stream';
import { Terminal } from '../src/console/terminal.ts';
import { runSluice } from '../src/program.ts';

/** What a command has written, and its exit code. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** What a test gives a command. */
export interface Given {
  readonly stdin?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether all streams are terminals. */
  readonly isTty?: boolean;
  readonly interrupted?: AbortSignal;
  /** How wide the outputs are, or `unknown` as for files and pipes. Default: so wide that no text is wrapped. */
  readonly columns?: number | 'unknown';
}

/** Runs a command of `sluice` in this process. */
export async function run(args: readonly string[], given: Given = {}): Promise<Ran> {
  const { stdin = '', env = {}, isTty = false, interrupted = new AbortController().signal, columns = 10_000 } = given;
  const [input, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  for (const stream of [input, stdout, stderr])
    Object.assign(stream, { isTTY: isTty, ...(columns !== 'unknown' && { columns }) });
  input.end(stdin);
  const [out, err] = [textOf(stdout), textOf(stderr)];
  const terminal = new Terminal({ stdin: input, stdout, stderr, env }, interrupted);
  const code = await runSluice(args, terminal);
  await terminal.flush();
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

/** Runs a command that writes JSON, and returns its result. */
export async function runJson(args: readonly string[], given?: Given): Promise<unknown> {
  return JSON.parse((await run([...args, '--json'], given)).out);
}

async function textOf(stream: PassThrough): Promise<string> {
  const chunks: string[] = [];
  for await (const chunk of stream) chunks.push(String(chunk));
  return chunks.join('');
}
