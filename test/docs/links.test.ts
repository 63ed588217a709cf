import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { pages } from './blocks.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

it.each([...pages(), 'CONTRIBUTING.md', 'SECURITY.md'])(
  'every link of %s within the repository leads somewhere',
  (page) => {
    const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const dead = links.filter((link) => !/^[a-z]+:/.test(link)).filter((link) => !leadsSomewhere(page, link));
    expect(dead).toEqual([]);
  },
);

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(root + target)) return false;
  return anchor === undefined || anchorsOf(target).includes(anchor);
}

/** As GitHub makes them of headings. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function proseOf(page: string): string {
  return readFileSync(root + page, 'utf8').replaceAll(/^( *)```[\s\S]*?^\1```/gm, '');
}
