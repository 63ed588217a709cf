import { NAMES, type Case } from './case.ts';

type Parts = Pick<Case, 'limits' | 'cost'>;

/** The limits of a valid case in TypeScript. */
export function codeOf({ limits, cost }: Parts): string {
  const definitions = limits.map((_, i) => `    ${NAMES[i]}: { key: clientNetwork(), ${inCode(limits[i]!)} },`);
  const uses = limits.map((_, i) =>
    Number(cost) === 1 ? `'${NAMES[i]}'` : `{ limit: '${NAMES[i]}', cost: ${Number(cost)} }`,
  );
  return `import { clientNetwork, createLimiter } from '@sluice/core';
import { rateLimit } from '@sluice/express';

const limiter = createLimiter({
  limits: {
${definitions.join('\n')}
  },
});

app.use(rateLimit({ limiter, limits: [${uses.join(', ')}] }));
`;
}

/** The limits of a valid case in YAML. */
export function yamlOf({ limits }: Parts): string {
  return limits
    .map(
      (limit, i) =>
        `${NAMES[i]}:\n${rows(limit)
          .map(([name, value]) => `  ${name}: ${value}\n`)
          .join('')}`,
    )
    .join('');
}

function inCode(limit: Case['limits'][number]): string {
  return rows(limit)
    .map(([name, value, isText]) => `${name}: ${isText ? `'${value}'` : value}`)
    .join(', ');
}

function rows({
  burst,
  count,
  period,
  maxWait,
}: Case['limits'][number]): [name: string, value: string, isText: boolean][] {
  return [
    ...(burst.trim() === '' ? [] : [['burst', String(Number(burst)), false] as [string, string, boolean]]),
    ['count', String(Number(count)), false],
    ['period', period.trim(), true],
    ...(maxWait.trim() === '' ? [] : [['maxWait', maxWait.trim(), true] as [string, string, boolean]]),
  ];
}
