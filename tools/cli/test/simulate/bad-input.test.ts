import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { written } from '../files.ts';
import { run } from '../run.ts';
import { scenarioOf } from './scenario.ts';

const mistakes: readonly (readonly [what: string, text: string, message: string])[] = [
  ['an empty text', '', 'standard input:1:1: `scenario` must be a mapping'],
  ['a list', '[1]', 'standard input:1:1:'],
  ['text that is not YAML', 'limits: [', 'standard input:1:'],
  ['values nested too deeply', '['.repeat(100_000), 'standard input:1:'],
  ['an unknown alias', 'limits: *a\nclients: {}', 'standard input:1:9:'],
  ['a text that is too long', ' '.repeat(300_000), 'standard input:1:1: A scenario has at most 262144 characters.'],
  ['no clients', 'limits: { A: { count: 1, period: 1s } }', 'must be a mapping with `limits` and `clients`'],
  [
    'an unknown field',
    `${scenarioOf('{ burst: 1 }')}sed: 1\n`,
    'standard input:5:6: `sed` is unknown. The known fields are: title,',
  ],
  [
    'a mistake in a limit',
    scenarioOf('{ burst: 1 }', '', '{ count: 0, period: 1s }'),
    'standard input:2:22: `Requests.count`',
  ],
  [
    'no limits',
    'limits: {}\nclients: { a: { arrivals: { burst: 1 } } }',
    'standard input:1:9: `limits` must be limits by name',
  ],
  [
    'a concurrency limit',
    scenarioOf('{ burst: 1 }', '', '{ concurrency: 4 }'),
    'standard input:2:13: `limits.Requests` must be',
  ],
  [
    'no client',
    'limits: { A: { count: 1, period: 1s } }\nclients: {}',
    'standard input:2:10: `clients` must be clients by name',
  ],
  [
    'a client without arrivals',
    'limits: { A: { count: 1, period: 1s } }\nclients: { a: { cost: 1 } }',
    'standard input:2:15:',
  ],
  [
    'an unknown limit',
    scenarioOf('{ burst: 1 }, limits: Other'),
    'standard input:4:42: `clients.app.limits` must be one of',
  ],
  [
    'a fraction of a request',
    scenarioOf('{ burst: 1.5 }'),
    'standard input:4:29: `clients.app.arrivals.burst` must be a whole',
  ],
  [
    'two kinds in one',
    scenarioOf('{ burst: 1, rate: 2 }'),
    'standard input:4:20: `clients.app.arrivals` must be a mapping with',
  ],
  ['a rate without an end', scenarioOf('{ rate: 1 }'), 'must be arrivals with an end'],
  ['an end before the start', scenarioOf('{ rate: 1, from: 2s, to: 1s }'), 'must be after `from`'],
  ['a duration without unit', scenarioOf('{ burst: 1, at: 5 }'), '`clients.app.arrivals.at` must be a duration'],
  ['a rate per nothing', scenarioOf('{ rate: 1, per: 0s, to: 1s }'), 'must be above 0s'],
  ['a ramp of one number', scenarioOf('{ ramp: [1], to: 1s }'), 'must be a list of two rates'],
  [
    'a window of no length',
    scenarioOf('{ burst: 1 }', 'within: 0s\n'),
    'standard input:5:9: `within` must be above 0s',
  ],
  [
    'an unknown model',
    scenarioOf('{ burst: 1 }', 'compare: [leaking]\n'),
    'standard input:5:11: `compare[0]` must be one of',
  ],
  ['too many requests', scenarioOf('{ burst: 1000000 }'), 'must be at most 500000 requests together'],
  ['a title that is a list', scenarioOf('{ burst: 1 }', 'title: []\n'), 'standard input:5:8: `title` must be a text'],
];

describe('sluice simulate', () => {
  it.each(mistakes)('rejects %s, and reports where it is', async (_, stdin, message) => {
    const { code, out, err } = await run(['simulate', '-'], { stdin });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
  });

  it('rejects an unknown model, and more than one limit beside models', async () => {
    const unknown = await run(['simulate', '--compare', 'fixed,tokens', '-']);
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("but has 'tokens'") as string });
    const stdin =
      'limits: { A: { count: 1, period: 1s }, B: { count: 1, period: 1s } }\nclients: { a: { arrivals: { burst: 1 } } }';
    const several = await run(['simulate', '--compare', 'fixed', '-'], { stdin });
    expect(several).toMatchObject({ code: 2, err: expect.stringContaining('but a has A, B') as string });
  });

  it('rejects a file that is missing, or is not text', async () => {
    expect(await run(['simulate', '/missing.yaml'])).toMatchObject({
      code: 2,
      err: expect.stringContaining("The file /missing.yaml can't be read: it does not exist.") as string,
    });
    const stdin = new Uint8Array([0xff, 0xfe]);
    expect(await run(['simulate', '-'], { stdin })).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not valid UTF-8') as string,
    });
  });

  it('reports a cost that no bucket can ever hold', async () => {
    const { code, err } = await run(['simulate', '-'], { stdin: scenarioOf('{ burst: 1 }, cost: 6') });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('ERR_COST_OVER_BURST') as string });
  });

  it('writes no file that it reads, none that is a folder or stdout, and none in a missing folder', async () => {
    const [file = ''] = written(scenarioOf('{ burst: 1 }'));
    const folder = `${file}.folder`;
    mkdirSync(folder);
    for (const out of [file, folder, '-', join(folder, 'missing', 'out.svg')]) {
      expect(await run(['simulate', file, '--svg', out])).toMatchObject({ code: 2, out: '' });
    }
    expect(readFileSync(file, 'utf8')).toBe(scenarioOf('{ burst: 1 }'));
  });
});
