import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { OutputFiles } from '../console/output-files.ts';
import { addressRule, denyAtMost, formatOptions } from '../replay/options.ts';
import { suggestLines } from '../replay/suggesting/suggest-lines.ts';
import type { SuggestReport } from '../replay/suggesting/suggest-report.ts';
import { suggest } from '../replay/suggesting/suggest.ts';

/** Runs `sluice suggest`. */
export async function runSuggest(call: Call): Promise<number> {
  const { args, console } = call;
  const outputs = await OutputFiles.of<SuggestReport>(call, args, []);
  const report = await suggest(
    {
      ...formatOptions(call),
      ...addressRule(call),
      files: args,
      key: call.text('key') ?? 'ip',
      costs: call.texts('cost'),
      only: call.texts('only'),
      denyAtMost: denyAtMost(call),
    },
    console,
  );
  await outputs.write(report, () => console.result(report, () => suggestLines(report, console)));
  return report.partial.length === 0 && report.ids > 0 ? EXIT.fine : EXIT.findings;
}
