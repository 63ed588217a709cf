import { files } from './logs.ts';
import { run, type Given, type Ran } from '../run.ts';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ReplayReport } from '../../src/replay/counting/report.ts';

/** A page of `sluice replay --html`, and what the command has written to stdout with `--json`. */
export interface Page extends Ran {
  readonly page: string;
  readonly report: ReplayReport;
}

/** Replays a log, and returns the page of its report. */
export async function pageOf(
  { limits, log }: { readonly limits: string; readonly log: string | Uint8Array },
  options: readonly string[] = [],
  given?: Given,
): Promise<Page> {
  const written = files({ limits, log });
  const path = join(dirname(written.log), 'report.html');
  const ran = await run(
    ['replay', written.log, '--limits', written.limits, '--html', path, '--json', ...options],
    given,
  );
  if (ran.out === '') throw new Error(ran.err);
  return { ...ran, page: readFileSync(path, 'utf8'), report: JSON.parse(ran.out) as ReplayReport };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** Returns the text of markup: without tags, with entities resolved. */
export function textOf(markup: string): string {
  return markup.replace(/<[^>]*>/g, '').replace(/&([a-z]+|#39);/g, (_, name: string) => ENTITIES[name] ?? '');
}

/** Returns the cells of a table by the id of its caption, without its header. */
export function cellsOf(page: string, id: string): string[][] {
  const [, table = ''] = new RegExp(`<caption id="${id}">(.*?)</table>`, 's').exec(page) ?? [];
  const [, body = ''] = /<tbody>(.*)<\/tbody>/s.exec(table) ?? [];
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell)),
  );
}

/** Returns the tags of a page in their order, each with the names of its attributes and without their values. */
export function tagsOf(page: string): string[] {
  return [...page.matchAll(/<[^>]*>/g)].map(([tag]) => tag.replace(/="[^"]*"/g, ''));
}

/** Returns the data in a page. */
export function dataOf(page: string): unknown {
  const [, data = ''] = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(page) ?? [];
  return JSON.parse(data);
}
