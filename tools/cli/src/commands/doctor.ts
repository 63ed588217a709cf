import type { Command } from '../console/command.ts';
import type { Console, Style } from '../console/console.ts';
import { EXIT } from '../console/exit-code.ts';
import type { Examined } from '../doctor/finding.ts';
import { REDIS_OPTIONS, STORE_OPTIONS } from '../redis/options.ts';

const STYLES: Readonly<Record<string, Style>> = { ok: 'green', note: 'yellow', wrong: 'red' };

/** `sluice doctor`: finds what would fail later on a server. */
export const doctor: Command = {
  about: [
    'Connects as your servers do, and says what would fail later: the version, the role, permissions, memory, persistence, ',
    'clocks, the round trip beside the deadline, and what other programs have there. Changes nothing. In a cluster it looks ',
    'at each primary. --store also takes serve:http://127.0.0.1:9090 or serve:grpc://127.0.0.1:9091, of sluice serve.',
  ].join(''),
  args: [],
  options: [
    ...STORE_OPTIONS,
    ...REDIS_OPTIONS,
    { flags: '--deadline <ms>', text: 'the `failure.deadlineMs` of your servers; default: 50' },
  ],
  example: 'sluice doctor --redis redis://127.0.0.1:6379',
  async run(call) {
    const deadlineMs = call.milliseconds('deadline', { min: 1, max: 60_000, unset: 50 });
    const { examine } = await import('../doctor/doctor.ts');
    const examined = await examine(call, deadlineMs);
    call.console.result({ examined }, () => examined.flatMap((each) => linesOf(each, call.console)));
    const isFine = examined.every(({ findings }) => findings.every(({ verdict }) => verdict !== 'wrong'));
    return isFine ? EXIT.fine : EXIT.findings;
  },
};

function linesOf({ server, findings }: Examined, console: Console): readonly string[] {
  const lines = findings.map(({ check, verdict, found, remedy }) => {
    const line = `${console.styled(STYLES[verdict]!, verdict.padEnd(5))}  ${check.padEnd(12)} ${found}`;
    return remedy === undefined ? line : `${line}\n       ${remedy}`;
  });
  return server === undefined ? lines : [console.styled('bold', server), ...lines];
}
