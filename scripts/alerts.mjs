// What to alert on: `npm run trial -- docs-tables` makes a list of docs/limits/watching.md, docs/metrics/rules.yml for
// Prometheus, deploy/monitoring/prometheus-rule.yaml for its operator, and docs/metrics/grafana.json of this list and of the instruments of core.

/**
 * @typedef {object} Alert
 * @property {string} name
 * @property {string} expr for Prometheus, of the names that `metricsText` writes
 * @property {string} lasts for how long it has to hold
 * @property {string} summary
 * @property {'job' | 'limit' | 'store'} of the label that the annotation names
 * @property {'critical'} [severity] default: warning
 * @property {string} advice in Markdown, as seen from docs/limits/
 */

const WRITTEN = '# Written by npm run trial -- docs-tables, from scripts/alerts.mjs.\n';
const decisions = 'sluice_decisions_total';
const denials = 'sluice_limit_denials_total{shadow="false"}';
const syncs = 'sluice_lease_syncs_total';
const near = 'sluice_limit_near_total';
const durations = 'sluice_decision_duration_seconds';
const deniedNow = `sum by (job, limit) (rate(${denials}[10m]))`;

/** The part of decisions that a failure policy made. @param {string} time */
const byPolicy = (time) =>
  `sum by (job) (rate(${decisions}{policy!=""}[${time}])) / sum by (job) (rate(${decisions}[${time}]))`;
/** The part of decisions that took more than 10 ms: the last bound of the histogram below a third of 50 ms. @param {string} time */
const late = (time) =>
  `1 - sum by (job) (rate(${durations}_bucket{le="0.01"}[${time}])) / sum by (job) (rate(${durations}_count[${time}]))`;

/** @type {readonly Alert[]} */
export const ALERTS = [
  {
    name: 'SluiceStoreFailing',
    expr: 'max by (job, store) (sluice_store_failing) > 0',
    lasts: '1m',
    summary: 'The store of a limiter does not answer',
    of: 'store',
    advice: '[failure policies](../failure-policy.md) decide: look at the store',
  },
  {
    name: 'SluiceDecidedByPolicy',
    expr: `${byPolicy('5m')} > 0.05`,
    lasts: '5m',
    summary: 'More than 5 % of the decisions are made by failure policies',
    of: 'job',
    advice: 'the store is late: its load, its distance, the [deadline](../failure-policy.md)',
  },
  {
    name: 'SluiceDenialsTripled',
    // In the first hour of a limit, it is compared with 0.
    expr: `${deniedNow} > 3 * (sum by (job, limit) (rate(${denials}[10m] offset 1h)) or 0 * ${deniedNow}) and ${deniedNow} > 0.1`,
    lasts: '10m',
    summary: 'A limit denies three times as much as an hour ago',
    of: 'limit',
    advice: 'one client, or all? `top` names them',
  },
  {
    name: 'SluiceClientsNearLimit',
    expr: `sum by (job, limit) (rate(${near}{above="0.9"}[15m])) / sum by (job, limit) (rate(${near}{above="0"}[15m])) > 0.1`,
    lasts: '15m',
    summary: 'After 10 % of the decisions of a limit, nine tenths of a bucket are used',
    of: 'limit',
    advice: '[raise the limit](changing.md), or tell its clients',
  },
  {
    name: 'SluiceBucketsEvicted',
    expr: 'increase(sluice_memory_evicted_total[10m]) > 0',
    lasts: '0m',
    summary: 'A full memory store forgets what clients have used',
    of: 'job',
    advice: 'raise [`maxKeys`](memory.md)',
  },
  {
    name: 'SluiceLeasesLate',
    expr: `sum by (job) (rate(${syncs}{state="failed"}[5m])) / sum by (job) (rate(${syncs}[5m])) > 0.05`,
    lasts: '5m',
    summary: 'More than 5 % of the syncs of leases are not answered in time',
    of: 'job',
    advice: 'the distance and the load of Redis: [leases](../leases.md)',
  },
  {
    name: 'SluicePolicyBudgetBurnsFast',
    expr: `${byPolicy('1h')} > 14.4 * 0.001 and ${byPolicy('5m')} > 14.4 * 0.001`,
    lasts: '2m',
    summary: 'Failure policies use the budget of a month in two days (0.1 % of the decisions)',
    of: 'job',
    severity: 'critical',
    advice: '[objectives](../for-years.md#objectives)',
  },
  {
    name: 'SluicePolicyBudgetBurns',
    expr: `${byPolicy('6h')} > 6 * 0.001 and ${byPolicy('30m')} > 6 * 0.001`,
    lasts: '15m',
    summary: 'Failure policies use the budget of a month in five days (0.1 % of the decisions)',
    of: 'job',
    advice: '[objectives](../for-years.md#objectives)',
  },
  {
    name: 'SluiceLatencyBudgetBurnsFast',
    expr: `${late('1h')} > 14.4 * 0.01 and ${late('5m')} > 14.4 * 0.01`,
    lasts: '2m',
    summary: 'Slow decisions use the budget of a month in two days (1 % above 10 ms)',
    of: 'job',
    severity: 'critical',
    advice: '[objectives](../for-years.md#objectives)',
  },
  {
    name: 'SluiceLatencyBudgetBurns',
    expr: `${late('6h')} > 6 * 0.01 and ${late('30m')} > 6 * 0.01`,
    lasts: '15m',
    summary: 'Slow decisions use the budget of a month in five days (1 % above 10 ms)',
    of: 'job',
    advice: '[objectives](../for-years.md#objectives)',
  },
];

/** The alerts as rules of Prometheus. */
export function rules() {
  return `${WRITTEN}${groups()}\n`;
}

/** The same for the operator of Prometheus in Kubernetes. */
export function prometheusRule() {
  return `${WRITTEN}apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: sluice
  labels: { app.kubernetes.io/name: sluice }
spec:
${groups().replaceAll(/^/gm, '  ')}
`;
}

function groups() {
  const group = ALERTS.map(
    ({ name, expr, lasts, summary, of, severity = 'warning' }) =>
      `      - alert: ${name}
        expr: '${expr}'
        for: ${lasts}
        labels: { severity: ${severity} }
        annotations: { summary: '${summary}: {{ $labels.${of} }}' }`,
  );
  return `groups:
  - name: sluice
    rules:
${group.join('\n')}`;
}

/** @typedef {Pick<import('../packages/core/src/counts/instruments.ts').Instrument, 'name' | 'type' | 'unit' | 'description' | 'attributes' | 'together'>} Instrument */

/**
 * A dashboard of Grafana with a panel for each instrument.
 *
 * @param {readonly Instrument[]} instruments
 * @param {(instrument: Instrument) => string} nameOf
 * @param {string} title
 */
export function dashboard(instruments, nameOf, title = 'Sluice') {
  const panels = instruments.map((instrument, i) => ({
    id: i + 1,
    type: 'timeseries',
    title: instrument.name,
    description: instrument.description,
    datasource: { type: 'prometheus', uid: '${datasource}' },
    gridPos: { h: 8, w: 12, x: (i % 2) * 12, y: Math.floor(i / 2) * 8 },
    fieldConfig: { defaults: { unit: { s: 's', By: 'bytes' }[instrument.unit] ?? 'short' }, overrides: [] },
    targets: [{ refId: 'A', ...queryOf(instrument, nameOf(instrument)) }],
  }));
  const templating = { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] };
  const range = { time: { from: 'now-1h', to: 'now' }, refresh: '10s' };
  return `${JSON.stringify({ title, uid: title.toLowerCase().replaceAll(' ', '-'), schemaVersion: 39, ...range, templating, panels }, undefined, 2)}\n`;
}

/**
 * @param {Instrument} instrument
 * @param {string} name
 */
function queryOf({ type, attributes, together }, name) {
  const labels = attributes.filter((each) => each !== 'kind');
  const by = labels.length === 0 ? '' : ` by (${labels.join(', ')}) `;
  const legendFormat = labels.map((each) => `{{${each}}}`).join(' ') || name;
  if (type === 'histogram')
    return {
      expr: `histogram_quantile(0.99, sum by (le, ${labels.join(', ')}) (rate(${name}_bucket[5m])))`,
      legendFormat,
    };
  // What all processes have in common, such as the numbers of a limit, has no sum.
  const over = together === 'largest' ? 'max' : 'sum';
  return { expr: `${over}${by}(${type === 'counter' ? `rate(${name}[5m])` : name})`, legendFormat };
}
