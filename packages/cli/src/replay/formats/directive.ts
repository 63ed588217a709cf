const DIRECTIVE = /^\s*log_format\s+\S+\s+(?:escape=\w+\s+)?/;
const QUOTED = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/g;

/**
 * Returns the text of a log format. It may be written as in the configuration of nginx: as the whole directive `log_format`, and in
 * several parts with quotes.
 */
export function formatText(text: string): string {
  const parts = text.replace(DIRECTIVE, '').replace(/;\s*$/, '').trim();
  if (!DIRECTIVE.test(text) && !/^'[^]*'$/.test(parts)) return text;
  return [...parts.matchAll(QUOTED)].map(([, single, double]) => (single ?? double)!.replace(/\\(.)/g, '$1')).join('');
}
