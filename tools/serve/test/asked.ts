import { request, type IncomingHttpHeaders } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** Asks about a request as a proxy does. A field may have several lines. */
export function asked(
  port: number | undefined,
  table: string,
  headers: Readonly<Record<string, string | string[]>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: `/check/${table}`, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve({ status: response.statusCode!, headers: response.headers }));
    });
    sent.on('error', reject).end();
  });
}
