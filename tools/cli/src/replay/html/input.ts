import { countText } from '../../console/number-text.ts';
import type { InputReport, ReplayReport } from '../counting/report.ts';
import { markup, NOTHING, type Content, type Markup } from '../../pages/markup.ts';
import { drawTable } from '../../pages/table.ts';

/** Draws what was read: the files, where the times came from, and the lines that were skipped. */
export function drawInput({ input }: ReplayReport): Markup {
  const { files, examples } = input;
  return markup`<h2>What was read</h2>
<ul>
${factsOf(input).map((fact) => markup`<li>${fact}</li>\n`)}</ul>
${files.length === 0 ? NOTHING : drawFiles(files)}${examples.length === 0 ? NOTHING : drawExamples(examples)}`;
}

function factsOf({ lines, requests, late, skipped, time }: InputReport): Content[] {
  const accuracy = time.resolution === 'second' ? 'in whole seconds' : 'with fractions of a second';
  const reasons = Object.entries(skipped).filter(([, each]) => each > 0);
  return [
    `${countText(lines)} lines, of which ${countText(requests)} are requests`,
    ...(requests > 0 ? [markup`times: <code>${time.field}</code>, the ${time.moment}, ${accuracy}`] : []),
    ...reasons.map(([reason, each]) => `skipped: ${countText(each)} lines (${reason})`),
    ...(late > 0 ? [`left out: ${countText(late)} requests more than 60 s older than a line before them`] : []),
  ];
}

function drawFiles(files: InputReport['files']): Markup {
  return drawTable({
    id: 'files',
    caption: 'Logs',
    columns: { file: 'long', format: 'text', bytes: 'number', problem: 'long' },
    rows: files.map(({ name, format, bytes, problem }) => [name, format, countText(bytes), problem ?? 'none']),
  });
}

function drawExamples(examples: InputReport['examples']): Markup {
  return drawTable({
    id: 'skipped',
    caption: 'The first lines that were skipped',
    columns: { place: 'long', reason: 'text', line: 'long' },
    rows: examples.map(({ file, line, reason, text }) => [`${file}:${line}`, reason, markup`<code>${text}</code>`]),
  });
}
