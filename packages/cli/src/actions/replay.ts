import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { loadFiles } from '../limits/files.ts';
import { checkStdin } from '../limits/sources.ts';
import { reportLines } from '../replay/counting/report-lines.ts';
import { addressRule, denyAtMost, formatOptions } from '../replay/options.ts';
import { reportPage } from '../replay/html/page.ts';
import { OutputFiles } from '../console/output-files.ts';
import { replay } from '../replay/replay.ts';

/** Runs `sluice replay`. */
export async function runReplay(call: Call): Promise<number> {
  const { args, console } = call;
  const [limits, overrides] = [call.text('limits'), call.text('overrides')];
  if (limits === undefined) throw new UsageError('Which limits? Give the file of them: --limits limits.yaml.');
  checkStdin([...args, limits, overrides]);
  const loaded = await loadFiles({ limits, overrides }, call);
  const inputs = [...args, limits, overrides, call.text('keys')].filter((file) => file !== undefined);
  const outputs = await OutputFiles.of(call, inputs, [{ flag: '--html', draw: reportPage }]);
  const report = await replay(
    {
      ...formatOptions(call),
      ...addressRule(call),
      files: args,
      loaded,
      keys: call.texts('key'),
      costs: call.texts('cost'),
      routes: call.texts('route'),
      only: call.texts('only'),
      showIds: call.has('showIds'),
      denyAtMost: denyAtMost(call),
    },
    console,
  );
  await outputs.write(report, () => console.result(report, () => reportLines(report, console)));
  const isUnused = report.limits.length === 0 || report.limits.some(({ requests }) => requests === 0);
  return report.partial.length === 0 && !isUnused ? EXIT.fine : EXIT.findings;
}
