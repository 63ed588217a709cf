import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rejected } from '../../core/test/support/thrown.ts';
import { FileSignatures } from '../src/live/file-signatures.ts';
import { folder, LIMITS, written } from './written-files.ts';
import { realDelay } from '../../../test/real-delay.ts';
import { becomes, countOf, watched, LIMIT, withCount } from './watched.ts';

describe('a change of a file is loaded', () => {
  it('when the file is written in place', async () => {
    const { defaults } = written({});
    const { limiter, live, loaded, events, lines } = await watched({ defaults });
    writeFileSync(defaults, withCount(301));
    await expect(becomes(limiter, 301)).resolves.toBe(true);
    const { version, loadedAt, lastError } = live.status();
    expect(version).not.toBe(loaded.version);
    expect(loadedAt.getTime()).toBeGreaterThanOrEqual(loaded.loadedAt.getTime());
    expect(lastError).toBeUndefined();
    const message = `limits reloaded (version ${version})`;
    expect(events).toEqual([{ type: 'limits-reloaded', version, message }]);
    expect(lines).toEqual([`Sluice: ${message}`]);
  });

  it('when another file is renamed over it, each time', async () => {
    const { defaults, dir } = written({});
    const { limiter } = await watched({ defaults });
    for (const count of [301, 302]) {
      writeFileSync(join(dir, 'new'), withCount(count));
      renameSync(join(dir, 'new'), defaults);
      await expect(becomes(limiter, count)).resolves.toBe(true);
    }
  });

  it('when a link in its path is replaced, as Kubernetes does', async () => {
    const dir = folder();
    const version = (name: string, count: number): void => {
      mkdirSync(join(dir, name));
      writeFileSync(join(dir, name, 'limits.yaml'), withCount(count));
      symlinkSync(name, join(dir, '..data_tmp'));
      renameSync(join(dir, '..data_tmp'), join(dir, '..data'));
    };
    version('..1', 300);
    symlinkSync(join('..data', 'limits.yaml'), join(dir, 'limits.yaml'));
    const { limiter } = await watched({ defaults: join(dir, 'limits.yaml') });
    for (const count of [301, 302]) {
      version(`..${count}`, count);
      await expect(becomes(limiter, count)).resolves.toBe(true);
    }
  });

  it('and it is checked again and again while nothing changes', async () => {
    const { defaults } = written({});
    const { live, loaded, events } = await watched({ defaults }, { everyMs: 100 });
    let looks = 0;
    let checkedAt = loaded.loadedAt;
    await vi.waitFor(() => {
      if (live.status().checkedAt > checkedAt) looks++;
      ({ checkedAt } = live.status());
      expect(looks).toBeGreaterThan(3);
    }, 20_000);
    expect(events).toEqual([]);
    expect(live.status().version).toBe(loaded.version);
  });

  it('when it is deleted and created again', async () => {
    const { defaults } = written({});
    const { limiter, live, events } = await watched({ defaults });
    rmSync(defaults);
    await vi.waitFor(() => expect(live.status().lastError?.message).toContain('The file does not exist'), 20_000);
    expect(await countOf(limiter)).toBe(300);
    writeFileSync(defaults, LIMITS);
    await vi.waitFor(() => expect(live.status().lastError).toBeUndefined(), 20_000);
    expect(events.map(({ type }) => type)).toEqual(['limits-rejected', 'limits-restored']);
    expect(live.status().failingSince).toBeUndefined();
  });
});

describe('a change of overrides is loaded:', () => {
  const override = (count: number): string => `- ${LIMIT}: { count: ${count}, period: 180m, ids: [1] }\n`;

  it('raising, lowering, adding and deleting the last one all take effect', async () => {
    const { defaults, overrides } = written({ overrides: override(400) });
    const { limiter, live } = await watched({ defaults, overrides }, { everyMs: false });
    for (const [text, count] of [
      [override(500), 500],
      [override(200), 200],
      ['[]', 300],
      [override(7), 7],
    ] as const) {
      writeFileSync(overrides, text);
      await live.reload();
      expect(await countOf(limiter)).toBe(count);
    }
  });

  it('a bucket keeps its state: a raised limit takes effect at once, a lowered one allows at most its burst', async () => {
    const numbers = (burst: number): string => LIMITS.replace('burst: 300, count: 300', `burst: ${burst}, count: 1`);
    const { defaults } = written({ limits: numbers(10) });
    const { limiter, live } = await watched({ defaults }, { everyMs: false });
    const take = async (cost: number): Promise<boolean> =>
      (await limiter.spend([{ limit: LIMIT, id: '1', cost }])).allowed;
    const follow = (burst: number): Promise<unknown> => (writeFileSync(defaults, numbers(burst)), live.reload());
    expect([await take(10), await take(1)]).toEqual([true, false]);
    await follow(15);
    expect([await take(5), await take(1)]).toEqual([true, false]);
    await limiter.reset([{ limit: LIMIT, id: '1' }]);
    await follow(3);
    expect([await take(3), await take(1)]).toEqual([true, false]);
  });
});

describe('a bad file', () => {
  it('leaves the last good limits in use, is logged once, and is recovered from when it is good again', async () => {
    const { defaults } = written({});
    const { limiter, live, lines, loaded } = await watched({ defaults }, { everyMs: false });
    writeFileSync(defaults, withCount(0));
    await live.reload();
    const { lastError, failingSince, version } = await live.reload();
    expect(version).toBe(loaded.version);
    expect(lastError?.message).toContain(`${defaults}:4:43: \`${LIMIT}.count\` must be a whole number`);
    expect(failingSince).toBeInstanceOf(Date);
    expect(await countOf(limiter)).toBe(300);
    expect(lines).toEqual([`Sluice: limits NOT reloaded; still using version ${version}. ${lastError?.message}`]);
    writeFileSync(defaults, withCount(-1));
    expect((await live.reload()).failingSince).toBe(failingSince);
    expect(lines).toHaveLength(2);
    writeFileSync(defaults, withCount(302));
    expect((await live.reload()).lastError).toBeUndefined();
    expect(await countOf(limiter)).toBe(302);
    expect(lines).toHaveLength(3);
  });

  it('that is completed a moment later is never reported', async () => {
    const { defaults } = written({});
    const { limiter, events } = await watched({ defaults }, { everyMs: 100 });
    const timer = setInterval(() => writeFileSync(defaults, `${LIMITS}Half`), 20);
    await realDelay(700);
    clearInterval(timer);
    writeFileSync(defaults, withCount(301));
    await expect(becomes(limiter, 301)).resolves.toBe(true);
    expect(events.map(({ type }) => type)).toEqual(['limits-reloaded']);
  });

  it('is not read half-written when it is written slowly', async () => {
    const { defaults, overrides } = written({ overrides: '[]' });
    const { limiter, events } = await watched({ defaults, overrides }, { everyMs: 100 });
    writeFileSync(overrides, '');
    for (let id = 1; id <= 12; id++) {
      appendFileSync(overrides, `- ${LIMIT}: { count: 5, period: 1s, ids: [${id}] }\n`);
      await realDelay(100);
    }
    await vi.waitFor(async () => expect(await countOf(limiter, '12')).toBe(5), { timeout: 20_000, interval: 20 });
    expect(events.map(({ type }) => type)).toEqual(['limits-reloaded']);
  });

  it('or a good one that is written all the time is read after a while', async () => {
    const { defaults } = written({});
    const files = new FileSignatures([defaults], { quietMs: 20, looks: 3 });
    const timer = setInterval(() => appendFileSync(defaults, '#\n'), 1);
    onTestFinished(() => clearInterval(timer));
    expect(await files.quiet()).toMatch(/^\d/);
  });

  it('or any file for a closed limiter is rejected, and watching ends', async () => {
    const { defaults } = written({});
    const { limiter, live, loaded } = await watched({ defaults }, { everyMs: false });
    await limiter.close();
    writeFileSync(defaults, withCount(301));
    const { lastError, version } = await live.reload();
    expect(lastError).toMatchObject({ code: 'ERR_CLOSED' });
    expect(version).toBe(loaded.version);
    expect(await rejected(() => live.reload())).toMatchObject({ message: expect.stringMatching(/^These live limits/) });
  });
});
