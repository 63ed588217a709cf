import { JsonFormat } from './json-format.ts';
import type { LogFormat } from './line-parser.ts';
import { TemplateFormat } from './template.ts';

const COMBINED =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"';

const VHOST_COMBINED = String.raw`%v:%p %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"`;

/** An Application Load Balancer of AWS, with the names of its documentation. */
const ALB = [
  '$type $time $elb $address:$client_port $target $request_processing_time $target_processing_time',
  ' $response_processing_time $status $target_status_code $received_bytes $sent_bytes "$request" "$http_user_agent"',
  ' $ssl_cipher $ssl_protocol $target_group_arn "$trace_id" "$domain_name" "$chosen_cert_arn" $matched_rule_priority',
  ' $request_creation_time "$actions_executed"',
].join('');

/** A Classic Load Balancer of AWS. */
const ELB = [
  '$timestamp $elb $address:$client_port $backend $request_processing_time $backend_processing_time',
  ' $response_processing_time $status $backend_status_code $received_bytes $sent_bytes "$request"',
].join('');

const HTTPLOG =
  '%ci:%cp [%tr] %ft %b/%s %TR/%Tw/%Tc/%Tr/%Ta %ST %B %CC %CS %tsc %ac/%fc/%bc/%sc/%rc %sq/%bq %hr %hs %{+Q}r';

/** What Envoy and Istio write if they are told no format. */
const ENVOY_REQUEST =
  '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS%';
const ENVOY_REST =
  ' %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"';
const ISTIO = [
  ENVOY_REQUEST,
  ' %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% "%UPSTREAM_TRANSPORT_FAILURE_REASON%"',
  ENVOY_REST,
  ' %UPSTREAM_CLUSTER_RAW% %UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS%',
  ' %REQUESTED_SERVER_NAME% %ROUTE_NAME%',
].join('');

/** The common log format of Traefik, whose time is that at which the request came. */
const TRAEFIK = String.raw`%h - %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i" %{count}x "%{router}x" "%{server}x" %{ms}Tms`;

/** The names of the header in JSON whose fields nginx was told. */
const FORWARDED_FOR = [
  'http_x_forwarded_for',
  'headers.x-forwarded-for',
  'x_forwarded_for',
  'x-forwarded-for',
  'forwarded_for',
  'xff',
];

/** The formats that have a name, in the order in which they are tried. Several may have the same. */
export const PRESETS: readonly LogFormat[] = [
  new TemplateFormat('combined', COMBINED),
  // The log format in the configuration file that comes with nginx.
  new TemplateFormat('main', `${COMBINED} "$http_x_forwarded_for"`),
  new TemplateFormat('vhost_combined', VHOST_COMBINED),
  new TemplateFormat('alb', ALB),
  new TemplateFormat('elb', ELB),
  new TemplateFormat('haproxy', HTTPLOG),
  new TemplateFormat('traefik', TRAEFIK),
  new TemplateFormat('envoy', ENVOY_REQUEST + ENVOY_REST),
  new TemplateFormat('envoy', ISTIO),
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
      address: [
        'downstream_remote_address',
        'downstream_direct_remote_address',
        'real_remote_address',
        'x_forwarded_for',
        'x-forwarded-for',
      ],
      method: ['method', 'x_request_method', ':method'],
      path: ['path', 'x_envoy_original_path', 'x-envoy-origin-path', 'x-envoy-original-path'],
      status: ['response_code'],
      'header:x-forwarded-for': ['x_forwarded_for', 'x-forwarded-for'],
      'header:user-agent': ['user_agent', 'user-agent'],
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
      address: [
        'remote_addr',
        'remote_address',
        'address',
        'ip',
        'client_ip',
        'clientip',
        'client_addr',
        'remote_ip',
        'client',
        ...FORWARDED_FOR,
      ],
      request: ['request'],
      method: ['request_method', 'method'],
      path: ['request_uri', 'uri', 'path', 'url'],
      status: ['status', 'status_code'],
      'header:x-forwarded-for': FORWARDED_FOR,
    },
    headers: { path: 'headers.', spelling: 'lower' },
    durationUnit: 's',
    timeIs: 'end',
  }),
];
