import { expect, it } from 'vitest';
import { blockServer } from '../docs/block-server.ts';
import { blocksOf, pages } from '../docs/blocks.ts';

/** Blocks that listen by a line of code, not in a comment, and need no other server. */
const servers = pages()
  .flatMap(blocksOf)
  .filter(({ code }) => /^[^/*\n]*\.listen\(.*3000/m.test(code) && !code.includes('@sluice/redis'));

it('there are such blocks for all three frameworks', () => {
  for (const framework of ['express', 'koa', 'fastify']) {
    expect(servers.some(({ code }) => code.includes(`@sluice/${framework}`))).toBe(true);
  }
});

it.each(servers)('the server of $page, line $line, runs and reports its limits', async ({ code }) => {
  const { answer } = await blockServer(code);
  expect(answer.get('RateLimit')).toMatch(/^"\w+";r=\d+;t=\d+$/);
});
