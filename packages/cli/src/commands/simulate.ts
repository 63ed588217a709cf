import type { Command } from '../console/command.ts';
import { JSON_FILE_OPTION } from './words.ts';

/** `sluice simulate`: what limits do with requests that a scenario describes, beside what others do. */
export const simulate: Command = {
  about: [
    'Decides the requests of a scenario by the limiter of your servers on a simulated clock, and beside it by models of ',
    'other algorithms with the same numbers: a fixed window, a sliding-window counter, a leaky bucket as a queue and as ',
    'a meter, and a budget that is split among processes; and processes that share the limit by leases.',
  ].join(''),
  args: [{ name: '<scenario>', text: 'the file of the scenario, YAML or JSON; - for stdin' }],
  options: [
    { flags: '--compare <models>', text: 'some of fixed,sliding,leaky,split,leased; default: those of the scenario' },
    { flags: '--processes <n>', text: 'the number of processes, for split and leased; default: that of the scenario' },
    { flags: '--svg <file>', text: 'write a picture' },
    { flags: '--html <file>', text: 'write a page' },
    JSON_FILE_OPTION,
  ],
  example: [
    `echo '{ limits: { Requests: { burst: 200, count: 100, period: 1s } },`,
    `  clients: { browser: { arrivals: { burst: 200, at: 5s, over: 100ms } } } }' |`,
    '  sluice simulate --compare fixed,leaky -',
  ].join('\n'),
  run: async (call) => (await import('../actions/simulate.ts')).runSimulate(call),
};
