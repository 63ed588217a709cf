/** Why a file can't be replayed, by its beginning. */
interface Unusable {
  readonly is: RegExp;
  /** What the file is, and what to do. */
  readonly why: string;
}

const ERRORS = 'a log of errors, which has no line for each request. Give the access log';
const CONNECTIONS = 'a log of connections, not of requests';

/** Files that are often given instead of an access log, or that have no time for each line. */
const UNUSABLE: readonly Unusable[] = [
  { is: /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d \[\w+\] \d+#\d+:/, why: ERRORS },
  { is: /^\[\w{3} \w{3} \d\d \d\d:\d\d:\d\d(?:\.\d+)? \d{4}\] \[/, why: ERRORS },
  {
    is: /\] \S+ \S+\/\S+ [-+\d]+\/[-+\d]+\/[-+\d]+ [-+\d]+ \S\S \d+\//,
    why: `${CONNECTIONS}. In HAProxy, use mode http with option httplog`,
  },
  { is: /^tls \d\.\d /, why: `${CONNECTIONS}: that of a Network Load Balancer. Give the log of what is behind it` },
  {
    is: /^\d{4}-\d\d-\d\dT[\d:.]+Z \S+ \d+ \d+ (?:TLS|-)/,
    why: `${CONNECTIONS}: that of an Application Load Balancer. Give its access log`,
  },
  {
    is: /^(?:\u00EF\u00BB\u00BF)?#Fields:(?!.*\bdate[ \t]+time\b)/,
    why: 'a W3C log whose lines have no date and time: its line #Fields: must have date and time, one after the other',
  },
  { is: /\thttp\.log\.access\S*\t/, why: 'a log for people. In Caddy, use format json' },
  {
    is: /^\d{4}-\d\d-\d\d[ \t]\d\d:\d\d:\d\d[ \t]/,
    why: 'a W3C log whose line #Fields: is missing, which names the columns. Put that line before the others',
  },
  { is: /^PK\p{Cc}\p{Cc}/u, why: 'a zip archive. Unpack it first: unzip -p file.zip | sluice replay - …' },
  { is: /^BZh\d/, why: 'compressed with bzip2. Decompress it first: bzcat file.bz2 | sluice replay - …' },
  { is: /^\u00FD7zXZ/, why: 'compressed with xz. Decompress it first: xzcat file.xz | sluice replay - …' },
  { is: /^PAR1/, why: 'in the format Parquet. Export it as lines of JSON first' },
];

/** Returns what a file is that has no known format, and what to do; undefined if that is not known either. */
export function whyUnusable(lines: readonly Buffer[]): string | undefined {
  const texts = lines.map((line) => line.toString('latin1', 0, 512));
  return UNUSABLE.find(({ is }) => texts.some((text) => is.test(text)))?.why;
}
