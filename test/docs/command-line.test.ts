import { describe, expect, it } from 'vitest';
import { shell } from './sluice.ts';

describe('the program sluice', () => {
  it.each(['check'])('has an example in the help of %s that works as pasted', async (command) => {
    const { out } = await shell(`sluice ${command} --help`);
    const [, example = ''] = out.split('\nExample:\n');
    expect(await shell(example)).toMatchObject({ code: 0 });
  });

  it('exits with the code of its command', async () => {
    const { code, out } = await shell("echo 'Orders: { count: 0, period: 3h }' | sluice check -");
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining('`Orders.count` must be') as string });
  });

  it('exits with 2 and its help on stderr when it is called without a command', async () => {
    expect(await shell('sluice')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('Usage: sluice') as string,
    });
  });

  it('ends without a message when the reader of its output leaves', async () => {
    expect(await shell('sluice --help | true; exit $PIPESTATUS')).toMatchObject({ err: '' });
  });

  it('reports output that cannot be written, as on a full disk', async () => {
    expect(await shell('sluice --help > /dev/full')).toEqual({
      code: 2,
      out: '',
      err: expect.stringContaining("error: The output can't be written: ENOSPC") as string,
    });
  });
});
