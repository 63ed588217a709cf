import type { Limiter } from '../limiter/limiter.ts';
import type { HistogramCounts } from './histogram.ts';
import type { Attributes, Instrument } from './instruments.ts';
import { readMetrics, type Metric } from './read-metrics.ts';

/** Units as a part of the name: https://prometheus.io/docs/practices/naming/. */
const UNIT_NAMES: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes' };

/**
 * Writes all numbers of limiters as text for Prometheus (text format 0.0.4): decisions, denials, tokens, how near clients are, the
 * store, queues, slots and loads. It contains names of limits and never an id. Limits of one name in several limiters are added. Keep
 * passing a limiter that was closed: what it counted would be missing, and counters would fall.
 *
 *     app.get('/metrics', (req, res) => res.type('text/plain; version=0.0.4').send(metricsText(limiter)));
 *
 * @throws {SluiceError} `ERR_OPTION` when a value is not a limiter.
 */
export function metricsText(...limiters: readonly Limiter<never>[]): string {
  return textOfMetrics(readMetrics(...limiters));
}

/** Writes metrics as text for Prometheus. Those without values are left out. */
export function textOfMetrics(metrics: readonly Metric[]): string {
  return metrics.map((metric) => (metric.samples.length === 0 ? '' : familyOf(metric))).join('');
}

/** The name of an instrument in Prometheus. */
export function prometheusName({ name, unit, type }: Pick<Instrument, 'name' | 'unit' | 'type'>): string {
  const unitName = UNIT_NAMES[unit];
  return [
    name.replaceAll('.', '_'),
    ...(unitName === undefined ? [] : [unitName]),
    ...(type === 'counter' ? ['total'] : []),
  ].join('_');
}

function familyOf(metric: Metric): string {
  const name = prometheusName(metric);
  const lines = metric.samples.flatMap(({ attributes, value }) =>
    typeof value === 'number' ? [lineOf(name, attributes, value)] : linesOf(name, attributes, value),
  );
  return `# HELP ${name} ${escaped(metric.description)}\n# TYPE ${name} ${metric.type}\n${lines.join('\n')}\n`;
}

function linesOf(name: string, attributes: Attributes, { bounds, counts, sum }: HistogramCounts): readonly string[] {
  let below = 0;
  const classes = counts.map((count, i) => {
    below += count;
    return lineOf(`${name}_bucket`, { ...attributes, le: i < bounds.length ? `${bounds[i]}` : '+Inf' }, below);
  });
  return [...classes, lineOf(`${name}_sum`, attributes, sum), lineOf(`${name}_count`, attributes, below)];
}

function lineOf(name: string, attributes: Attributes, value: number): string {
  const labels = Object.entries(attributes).map(
    ([label, text]) => `${label}="${escaped(text).replaceAll('"', String.raw`\"`)}"`,
  );
  return `${name}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}
