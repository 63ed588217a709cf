import { Test } from 'supertest';
import { expect } from 'vitest';

/** What a printed `curl` command asks for. */
interface CurlCommand {
  readonly urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** What is posted, if anything. */
  readonly data: string | undefined;
}

/** The `curl` commands in the output of an example, in order. */
export function curlCommands(output: string): CurlCommand[] {
  return [...output.matchAll(/^ {2}curl -i (.*)$/gm)].map(([, text]) => parse(text ?? ''));
}

/** Sends the requests of a command one after the other, as curl does, and gives their statuses. */
export async function run({ urls, headers, data }: CurlCommand): Promise<number[]> {
  const statuses: number[] = [];
  for (const url of urls) {
    const { origin } = new URL(url);
    const test = new Test(origin, data === undefined ? 'GET' : 'POST', url.slice(origin.length)).set(headers);
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    statuses.push((await test.send(data)).status);
  }
  return statuses;
}

/** Sends the requests of a command, and expects that those are denied for which no token can have come back meanwhile. */
export async function runsInto(command: CurlCommand, limit: { burst: number; perSecond: number }): Promise<void> {
  const startMs = performance.now();
  const statuses = await run(command);
  const back = (limit.perSecond * (performance.now() - startMs)) / 1000;
  expect(statuses[0]).toBe(200);
  const denied = statuses.filter((status) => status === 429).length;
  expect(denied).toBeGreaterThanOrEqual(statuses.length - limit.burst - back);
}

function parse(text: string): CurlCommand {
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
  const headers: Record<string, string> = {};
  let data: string | undefined;
  let url = '';
  while (words.length > 0) {
    const word = words.shift()!;
    if (word === '-H') {
      const [name = '', value = ''] = words.shift()!.split(': ');
      headers[name] = value;
    } else if (word === '-d') {
      data = words.shift();
    } else {
      url = word;
    }
  }
  return { urls: expanded(url), headers, data };
}

/** curl's `[1-3]` is three requests. */
function expanded(url: string): string[] {
  const [range, count] = /\[1-(\d+)\]/.exec(url) ?? [];
  if (range === undefined) return [url];
  return Array.from({ length: Number(count) }, (_, i) => url.replace(range, String(i + 1)));
}
