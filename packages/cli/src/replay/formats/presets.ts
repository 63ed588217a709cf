import { JsonFormat } from './json-format.ts';
import type { LogFormat } from './line-parser.ts';
import { TemplateFormat } from './template.ts';

const COMBINED =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"';

const ALB = [
  '$type $time $elb $address $target $request_processing $target_processing $response_processing $status',
  ' $target_status $received $sent "$request" "$http_user_agent" $cipher $protocol $group "$trace" "$domain"',
  ' "$certificate" $rule $started',
].join('');

/** The formats that have a name, in the order in which they are tried. */
export const PRESETS: readonly LogFormat[] = [
  new TemplateFormat('combined', COMBINED),
  // The log format in the configuration file that comes with nginx.
  new TemplateFormat('main', `${COMBINED} "$http_x_forwarded_for"`),
  new TemplateFormat('alb', ALB),
  new JsonFormat({
    name: 'caddy',
    paths: {
      time: ['ts'],
      duration: ['duration'],
      address: ['request.remote_ip', 'request.remote_addr'],
      method: ['request.method'],
      path: ['request.uri'],
      status: ['status'],
    },
    headers: { path: 'request.headers.', spelling: 'train' },
    durationUnit: 's',
    timeIs: 'end',
  }),
  new JsonFormat({
    name: 'traefik',
    paths: {
      time: ['time'],
      started: ['StartUTC', 'StartLocal'],
      duration: ['Duration'],
      address: ['ClientAddr', 'ClientHost'],
      method: ['RequestMethod'],
      path: ['RequestPath'],
      status: ['DownstreamStatus'],
    },
    headers: { path: 'request_', spelling: 'train' },
    durationUnit: 'ns',
    timeIs: 'end',
  }),
  new JsonFormat({
    name: 'envoy',
    paths: {
      time: ['start_time'],
      duration: ['duration'],
      address: ['downstream_remote_address', 'downstream_direct_remote_address'],
      method: ['method', 'x_request_method'],
      path: ['path', 'x_envoy_original_path'],
      status: ['response_code'],
      'header:x-forwarded-for': ['x_forwarded_for'],
      'header:user-agent': ['user_agent'],
    },
    durationUnit: 'ms',
    timeIs: 'start',
  }),
  new JsonFormat({
    name: 'pino',
    paths: {
      time: ['time'],
      duration: ['responseTime'],
      address: ['req.remoteAddress', 'req.ip'],
      method: ['req.method'],
      path: ['req.url'],
      status: ['res.statusCode'],
    },
    headers: { path: 'req.headers.', spelling: 'lower' },
    durationUnit: 'ms',
    timeIs: 'end',
  }),
  new JsonFormat({
    name: 'json',
    paths: {
      time: ['msec', 'time', 'ts', 'timestamp', '@timestamp', 'time_iso8601', 'time_local'],
      duration: ['request_time', 'duration'],
      address: ['remote_addr', 'address', 'ip', 'client_ip', 'remote_ip'],
      request: ['request'],
      method: ['request_method', 'method'],
      path: ['request_uri', 'uri', 'path', 'url'],
      status: ['status', 'status_code'],
      'header:x-forwarded-for': ['http_x_forwarded_for', 'headers.x-forwarded-for'],
    },
    headers: { path: 'headers.', spelling: 'lower' },
    durationUnit: 's',
    timeIs: 'end',
  }),
];
