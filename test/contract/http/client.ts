import { Agent, request, type IncomingHttpHeaders } from 'node:http';

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

/** Sends one request over a connection of its own. */
export function ask(url: string, { method = 'GET', headers = {} }: Ask = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: headers as never, agent: new Agent() }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => {
        const { statusCode = 0, headers: received, rawHeaders } = response;
        resolve({ status: statusCode, headers: received, rawHeaders, body });
      });
      response.on('error', reject);
    });
    sent.on('error', reject).end();
  });
}
