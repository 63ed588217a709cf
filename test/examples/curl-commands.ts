/** What a printed `curl` command asks for. */
interface CurlCommand {
  readonly urls: readonly string[];
  readonly init: RequestInit;
}

/** The `curl` commands in the output of an example, in order. */
export function curlCommands(output: string): CurlCommand[] {
  return [...output.matchAll(/^ {2}curl -i (.*)$/gm)].map(([, text]) => parse(text ?? ''));
}

/** Sends the requests of a command one after the other, as curl does, and gives their statuses. */
export async function run({ urls, init }: CurlCommand): Promise<number[]> {
  const statuses: number[] = [];
  for (const url of urls) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const response = await fetch(url, init);
    statuses.push(response.status);
    // oxlint-disable-next-line no-await-in-loop
    await response.text();
  }
  return statuses;
}

function parse(text: string): CurlCommand {
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
  const headers: Record<string, string> = {};
  const init: RequestInit = { headers };
  let url = '';
  while (words.length > 0) {
    const word = words.shift()!;
    if (word === '-H') {
      const [name = '', value = ''] = words.shift()!.split(': ');
      headers[name] = value;
    } else if (word === '-d') {
      Object.assign(init, { method: 'POST', body: words.shift() });
    } else {
      url = word;
    }
  }
  return { urls: expanded(url), init };
}

/** curl's `[1-3]` is three requests. */
function expanded(url: string): string[] {
  const [range, count] = /\[1-(\d+)\]/.exec(url) ?? [];
  if (range === undefined) return [url];
  return Array.from({ length: Number(count) }, (_, i) => url.replace(range, String(i + 1)));
}
