import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { spawnSync } from 'node:child_process';
import { until } from '../redis/servers/until.ts';
import { reservedPort } from '../redis/servers/port.ts';
import { fileURLToPath } from 'node:url';
import { Program } from './program.ts';

const SLUICE = fileURLToPath(new URL('../../tools/cli/dist/main.js', import.meta.url));
const LIMITS = 'PerAddress: { count: 1, period: 1h, idFormat: ipAddress }\n';

/** A server that writes logs. */
interface Logging {
  readonly name: string;
  readonly configuration: (folder: string, port: number) => string;
  readonly command: (folder: string) => readonly [string, ...string[]];
  /** Its logs by their names, with the words after the file for `sluice replay`, and what it calls the format. */
  readonly logs: Readonly<Record<string, readonly [format: string, ...words: string[]]>>;
}

const NGINX_FORMATS = {
  host: '$host:$server_port $remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer"',
  joined: '$msec|$remote_addr|$request_method|$uri$is_args$args|$status|$request_time',
};
const APACHE_FORMATS = {
  vhost: String.raw`%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"`,
  // Apache resolves the escapes of %U.
  iso: String.raw`%{%Y-%m-%dT%H:%M:%S}t.%{msec_frac}t%{%z}t %a %m \"%U%q\" %>s %{ms}T`,
};

const SERVERS: readonly Logging[] = [
  {
    name: 'nginx',
    configuration: (folder, port) => `
pid ${folder}/pid; error_log stderr; events {}
http {
  ${Object.entries(NGINX_FORMATS)
    .map(([name, text]) => `log_format ${name} '${text}'; access_log ${folder}/${name}.log ${name};`)
    .join('\n  ')}
  log_format json escape=json '{"time":"$msec","remote_addr":"$remote_addr","request":"$request","status":$status,"agent":"$http_user_agent"}';
  access_log ${folder}/json.log json;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${folder}/${each};`).join(' ')}
  server { listen 127.0.0.1:${port}; location / { return 200; } }
}`,
    command: (folder) => [
      'nginx',
      '-p',
      folder,
      '-c',
      `${folder}/server.conf`,
      '-e',
      'stderr',
      '-g',
      'daemon off; master_process off;',
    ],
    logs: {
      json: ['json'],
      host: ['vhost_combined'],
      joined: ['log_format', '--format', NGINX_FORMATS.joined],
    },
  },
  {
    name: 'Apache',
    configuration: (folder, port) => `
ServerRoot /usr/lib/apache2
ServerName www.example.com
PidFile ${folder}/pid
DefaultRuntimeDir ${folder}
Mutex file:${folder} default
LoadModule mpm_event_module modules/mod_mpm_event.so
LoadModule authz_core_module modules/mod_authz_core.so
Listen 127.0.0.1:${port}
ErrorLog ${folder}/error.log
DocumentRoot ${folder}
${Object.entries(APACHE_FORMATS)
  .map(([name, text]) => `LogFormat "${text}" ${name}\nCustomLog ${folder}/${name}.log ${name}`)
  .join('\n')}
`,
    command: (folder) => ['apache2', '-f', `${folder}/server.conf`, '-X'],
    logs: {
      vhost: ['vhost_combined'],
      iso: ['log_format', '--format', `LogFormat "${APACHE_FORMATS.iso}" iso`],
    },
  },
  {
    name: 'HAProxy',
    configuration: (_folder, port) => `
global
  log stdout format raw local0
defaults
  mode http
  log global
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend web
  option httplog
  option dontlognull
  capture request header User-Agent len 40
  bind 127.0.0.1:${port}
  http-request return status 200
`,
    command: (folder) => ['sh', '-c', `exec haproxy -f ${folder}/server.conf > ${folder}/httplog.log`],
    logs: { httplog: ['haproxy'] },
  },
  {
    name: 'Caddy',
    configuration: (folder, port) => `
{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  log {
    output file ${folder}/access.log
  }
  respond "ok"
}`,
    command: (folder) => ['caddy', 'run', '--config', `${folder}/server.conf`, '--adapter', 'caddyfile'],
    logs: { access: ['caddy'] },
  },
];

/** Sends a request of a client whose fields are as difficult for a log as clients can make them. */
function ask(port: number): Promise<void> {
  const headers = { 'User-Agent': 'an "agent" \\ with: | [x] {y}', 'X-Forwarded-For': '203.0.113.9, 127.0.0.1' };
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/a%20b?c="d"', headers, agent: false }, (response) => {
      response.resume().on('end', resolve);
    })
      .on('error', reject)
      .end();
  });
}

describe.each(SERVERS)('the logs of $name', ({ configuration, command, logs }) => {
  it('are read: each has the requests that were sent, of their client, to their path', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-logs-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const port = await reservedPort();
    writeFileSync(join(folder, 'server.conf'), configuration(folder, port));
    writeFileSync(join(folder, 'limits.yaml'), LIMITS);
    const [file, ...args] = command(folder);
    const server = await Program.start(file, args, port);
    onTestFinished(() => void server.stop('SIGKILL'));
    const paths = Object.keys(logs).map((name) => join(folder, `${name}.log`));
    for (let i = 0; i < 3; i++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await ask(port);
    }
    await until('all logs have the requests', () =>
      paths.every((path) => (readFileSync(path, 'utf8').match(/203|a%20b|a b/g) ?? []).length >= 3),
    );
    await server.stop();
    for (const [name, [format, ...words]] of Object.entries(logs)) {
      const log = join(folder, `${name}.log`);
      const options = ['--limits', join(folder, 'limits.yaml'), '--show-ids', '--json', ...words];
      const { status, stdout, stderr } = spawnSync(process.execPath, [SLUICE, 'replay', log, ...options], {
        encoding: 'utf8',
      });
      expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({
        input: { requests: 3, files: [{ format }], skipped: { 'another format': 0, 'no valid time': 0 } },
        limits: [{ requests: 3, ids: 1, denied: { low: 2, high: 2 }, invalidIds: 0 }],
        mostDenied: [{ id: '127.0.0.1' }],
        routes: [{ route: expect.stringMatching(/^GET \/a(?:%20| )b$/) as string, requests: 3 }],
        partial: [],
      });
    }
  });
});
