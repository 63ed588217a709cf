import { describe, expect, it } from 'vitest';
import { files } from './logs.ts';
import { replayReport } from './report.ts';

const LIMITS = 'PerAddress: { count: 1, period: 1m, idFormat: ipAddress }\n';
const MS = Date.UTC(2026, 10, 23, 13, 5, 59);

/** A line of each format, as the program writes it, for GET /a?b=1 from 203.0.113.7, which arrived at MS + 123 ms. */
const LINES: readonly { format: string; line: string; ms: number; moment: string; trust?: string }[] = [
  {
    format: 'combined',
    line: '203.0.113.7 - bob [23/Nov/2026:14:05:59 +0100] "GET /a?b=1 HTTP/1.1" 204 0 "-" "an \\"agent\\""',
    ms: MS,
    moment: 'end of the request',
  },
  {
    format: 'main',
    line: '10.0.0.5 - - [23/Nov/2026:14:05:59 +0100] "GET /a?b=1 HTTP/1.1" 204 0 "-" "curl" "203.0.113.7"',
    ms: MS,
    moment: 'end of the request',
    trust: '10.0.0.0/8',
  },
  {
    format: 'alb',
    line: 'https 2026-11-23T13:06:00.500000Z app/lb/50dc6c495c0c9188 203.0.113.7:2817 10.0.0.1:80 0.086 0.048 0.037 204 204 0 57 "GET https://www.example.com:443/a?b=1 HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:elasticloadbalancing:us-east-2:1:targetgroup/t/73e2 "Root=1-58337281" "www.example.com" "arn:aws:acm:us-east-2:1:certificate/12" 1 2026-11-23T13:05:59.123000Z "authenticate,forward" "-" "-"',
    ms: MS + 123,
    moment: 'arrival',
  },
  {
    format: 'caddy',
    line: `{"level":"info","ts":${MS / 1000 + 1}.223,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"203.0.113.7","remote_port":"4711","client_ip":"203.0.113.7","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/a?b=1","headers":{"User-Agent":["curl/7.82.0"]}},"bytes_read":0,"user_id":"","duration":1.1,"size":10900,"status":204}`,
    ms: MS + 123,
    moment: 'arrival',
  },
  {
    format: 'traefik',
    line: '{"ClientAddr":"203.0.113.7:53352","ClientHost":"203.0.113.7","DownstreamStatus":204,"Duration":1300000000,"RequestMethod":"GET","RequestPath":"/a?b=1","StartUTC":"2026-11-23T13:05:59.123456789Z","level":"info","time":"2026-11-23T13:06:00Z"}',
    ms: MS + 123.456,
    moment: 'arrival',
  },
  {
    format: 'envoy',
    line: '{"start_time":"2026-11-23T13:05:59.123Z","method":"GET","path":"/a?b=1","protocol":"HTTP/1.1","response_code":204,"duration":27,"downstream_remote_address":"203.0.113.7:1234","x_forwarded_for":null,"user_agent":"curl"}',
    ms: MS + 123,
    moment: 'arrival',
  },
  {
    format: 'pino',
    line: `{"level":30,"time":${MS + 200},"pid":1,"hostname":"a","req":{"id":1,"method":"GET","url":"/a?b=1","headers":{"host":"a"},"remoteAddress":"::ffff:203.0.113.7","remotePort":4711},"res":{"statusCode":204},"responseTime":77,"msg":"request completed"}`,
    ms: MS + 123,
    moment: 'arrival',
  },
  {
    format: 'json',
    line: '{ "time_iso8601": "2026-11-23T14:06:00+01:00", "remote_addr": "203.0.113.7", "request": "GET /a?b=1 HTTP/1.1", "status": "204", "request_time": "-" }',
    ms: MS + 1000,
    moment: 'end of the request',
  },
];

function lineOf(name: string): string {
  return LINES.find(({ format }) => format === name)!.line;
}

describe('formats of logs', () => {
  it.each([
    ['s', 1.5],
    ['ms', 1500],
    ['us', 1_500_000],
    ['ns', 1_500_000_000],
  ])('have durations in the unit of --duration-unit %s', async (unit, took) => {
    const { limits } = files({ limits: LIMITS });
    const line = `{"time":${MS},"ip":"203.0.113.7","duration":${took}}`;
    const report = await replayReport(['-', '--limits', limits, '--duration-unit', unit], { stdin: `${line}\n` });
    expect(report.input.fromMs).toBe(MS - 1500);
  });

  it('with X-Forwarded-For have a note if no proxy is trusted, and without it if one is', async () => {
    const { limits } = files({ limits: LIMITS });
    const line = (forwarded: string): string =>
      `10.0.0.5 - - [23/Nov/2026:14:05:59 +0100] "GET / HTTP/1.1" 204 0 "-" "curl" "${forwarded}"\n`;
    const notesOf = async (forwarded: string, ...args: string[]): Promise<string> =>
      (await replayReport(['-', '--limits', limits, ...args], { stdin: line(forwarded) })).notes.join('\n');
    expect(await notesOf('203.0.113.7')).toContain('which is not read without --trust');
    expect(await notesOf('203.0.113.7', '--trust', '10.0.0.5')).not.toContain('--trust');
    expect(await notesOf('-', '--trust', '10.0.0.5')).toContain('so --trust may have no effect');
    expect(await notesOf('-')).not.toContain('--trust');
  });

  it.each(LINES)('finds time, address, route and status in $format, without being told its name', async (expected) => {
    const { limits } = files({ limits: LIMITS });
    const { format, line, ms, moment, trust } = expected;
    const proxies = trust === undefined ? [] : ['--trust', trust];
    const words = ['-', '--limits', limits, '--show-ids', ...proxies];
    const report = await replayReport(words, { stdin: `${line}\n${line}\n` });
    expect(report.input).toMatchObject({ files: [{ format }], requests: 2, time: { moment } });
    expect(report.input.fromMs).toBeCloseTo(ms, 3);
    expect(report.totals).toMatchObject({ denied: { low: 1, high: 1 }, deniedSuccesses: { low: 1, high: 1 } });
    expect(report.mostDenied).toMatchObject([{ id: '203.0.113.7' }]);
    expect(report.routes).toMatchObject([{ route: 'GET /a' }]);
  });

  it.each([
    ['{"time":1795439159.5,"ip":"a"}', 'time', 'end of the request'],
    ['{"ts":1795439159.5,"duration":0.5}', 'ts − duration', 'arrival'],
    ['{"ts":1795439159.5,"duration":1e300}', 'ts', 'end of the request'],
    [
      '{"time":"2026-11-23T13:06:00Z","StartLocal":"2026-11-23T13:05:59.5Z","Duration":5,"RequestPath":"/"}',
      'StartLocal',
      'arrival',
    ],
    [
      '{"time":"2026-11-23T13:06:00Z","Duration":5000,"RequestMethod":"GET","RequestPath":"/"}',
      'time − Duration',
      'arrival',
    ],
    ['{"time":"2026-11-23T13:06:00Z","RequestMethod":"GET","RequestPath":"/"}', 'time', 'end of the request'],
    [
      '{"start_time":"2026-11-23T13:05:59.123Z","downstream_remote_address":"a","response_code":200,"duration":27}',
      'start_time',
      'arrival',
    ],
  ])('reports the field of the times of %s', async (line, field, moment) => {
    const limits = 'All: { count: 1, period: 1m, idFormat: everyone }\n';
    const report = await replayReport(['-', '--limits', files({ limits }).limits], { stdin: `${line}\n`.repeat(3) });
    expect(report.input).toMatchObject({ requests: 3, time: { field, moment } });
    const isEnd = report.notes.some((note) => note.startsWith('The times are those of the end'));
    expect(isEnd).toBe(moment !== 'arrival');
  });

  it('reports the fields of the times of several logs', async () => {
    const written = files({ limits: LIMITS, one: lineOf('combined'), two: lineOf('alb') });
    const report = await replayReport([written.one, written.two, '--limits', written.limits]);
    expect(report.input.time).toMatchObject({ field: '$time_local, $request_creation_time' });
  });

  it('finds fields of other JSON by their paths, also with a name that contains dots', async () => {
    const { limits } = files({ limits: LIMITS });
    const line = `{"a":{"x":[1,{"ip":"no"}],"t":${MS * 1e6},"ip":"203.0.113.7"},"http.status":200,"b":"\\"}{"}\n`;
    const fields = ['time=a.t', 'address=a.ip', 'status=http.status'].flatMap((field) => ['--field', field]);
    const report = await replayReport(['-', '--limits', limits, ...fields, '--format', 'json', '--show-ids'], {
      stdin: line + line,
    });
    expect(report.input).toMatchObject({ requests: 2, fromMs: MS });
    expect(report.totals.deniedSuccesses.high).toBe(1);
    expect(report.mostDenied).toMatchObject([{ id: '203.0.113.7' }]);
  });

  it.each(['{"time":1}', '{"time":', '{"a":"b" "c":1}', '{"time":1795439159}}', '[1]'])(
    'skips %s, which is not a line of JSON with a time',
    async (line) => {
      const { limits } = files({ limits: LIMITS });
      const good = `{"time":"2026-11-23T13:05:59Z","remote_addr":"203.0.113.7"}\n`;
      const { input } = await replayReport(['-', '--limits', limits, '--format', 'json'], { stdin: good + line });
      expect(input).toMatchObject({ lines: 2, requests: 1 });
    },
  );
});
