// Tests tools/opentelemetry with each version of the OpenTelemetry SDK that it supports, on the versions of Node that run it.
import { testWithVersions } from './other-versions.mjs';

const VERSIONS = [
  { api: '1.9', sdk: '2.12', exporter: '0.223', node: '20' },
  { api: '1.10', sdk: '3.1', exporter: '0.301', node: '22' },
  { api: '1.10', sdk: '3.1', exporter: '0.301', node: '24' },
];

for (const { api, sdk, exporter, node } of VERSIONS)
  testWithVersions({
    tests: 'tools/opentelemetry/test',
    node,
    packages: [
      `@opentelemetry/api@${api}`,
      ...['sdk-metrics', 'sdk-trace', 'context-async-hooks'].map((name) => `@opentelemetry/${name}@${sdk}`),
      `@opentelemetry/exporter-prometheus@${exporter}`,
    ],
    env: (installed) => ({ SLUICE_OPENTELEMETRY: installed }),
  });
