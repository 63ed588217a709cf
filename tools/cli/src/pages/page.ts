import { createHash } from 'node:crypto';
import { jsonMarkup, Markup, markup, type Content } from './markup.ts';
import { PAGE_STYLE } from './page-style.ts';

/** A page of HTML. */
interface Page {
  readonly title: string;
  /** Rules of CSS beside those that all pages have. */
  readonly style: string;
  readonly main: Content;
  /** The result that the page shows, for programs: it becomes JSON in the page. */
  readonly report: unknown;
}

/** Returns a page as one file, which needs no script and loads nothing. */
export function drawPage({ title, style, main, report }: Page): string {
  const styles = `${PAGE_STYLE}${style}`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(styles)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Markup(styles)}</style>
</head>
<body>
<main>
${main}</main>
<script type="application/json" id="report">${jsonMarkup(report)}</script>
</body>
</html>
`.text;
}

/** Nothing is loaded, no script runs, and no style but that of the page applies. */
function policyOf(style: string): string {
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
}
