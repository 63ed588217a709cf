import type { Figures } from './figures.ts';

/** One row of Markdown for each cell. */
export function fullTable(all: readonly Figures[]): string {
  const rows = all.map((figures) => {
    const { fault, policy, client } = figures.cell;
    return [fault.name, policy, client.library, client.options, ...columns(figures)];
  });
  return markdown(['fault', 'policy', 'client', 'options', ...COLUMNS], rows);
}

/** One row for each fault and policy: of all clients the worst of each figure. */
export function worstTable(all: readonly Figures[]): string {
  const groups = grouped(all);
  return markdown(
    ['fault', 'policy', ...COLUMNS],
    [...groups.values()].map((group) => {
      const { fault, policy } = group[0]!.cell;
      return [fault.name, policy, ...columns(worst(group))];
    }),
  );
}

const COLUMNS = [
  'answers',
  'p99 ms',
  'longest ms',
  'admitted of at most',
  'recovery ms',
  'charged late',
  'charged twice',
  'unanswered',
  'unhandled',
];

function columns(figures: Figures): string[] {
  const { statuses, bound = '–', recoveryMs } = figures;
  return [
    [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '),
    figures.p99Ms.toFixed(0),
    figures.longestMs.toFixed(0),
    `${figures.admitted} of ${bound}`,
    recoveryMs === undefined ? 'never' : recoveryMs.toFixed(0),
    String(figures.late),
    String(figures.twice),
    String(figures.hangs),
    String(figures.rejections),
  ];
}

function nameOf({ cell: { fault, policy } }: Figures): string {
  return `${fault.name} ${policy}`;
}

function grouped(all: readonly Figures[]): Map<string, Figures[]> {
  const groups = new Map<string, Figures[]>();
  for (const figures of all) groups.set(nameOf(figures), [...(groups.get(nameOf(figures)) ?? []), figures]);
  return groups;
}

function worst(group: readonly Figures[]): Figures {
  const most = (figure: (figures: Figures) => number): number => Math.max(...group.map(figure));
  const statuses = new Map<number, number>();
  for (const figures of group) {
    for (const [status, count] of figures.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count);
  }
  const nearest = group.toSorted((a, b) => b.admitted / (b.bound ?? 1) - a.admitted / (a.bound ?? 1))[0]!;
  const recovered = group.every(({ recoveryMs }) => recoveryMs !== undefined);
  return {
    ...nearest,
    statuses: new Map([...statuses].toSorted(([a], [b]) => a - b)),
    p99Ms: most(({ p99Ms }) => p99Ms),
    longestMs: most(({ longestMs }) => longestMs),
    recoveryMs: recovered ? most(({ recoveryMs = 0 }) => recoveryMs) : undefined,
    late: most(({ late }) => late),
    twice: most(({ twice }) => twice),
    hangs: most(({ hangs }) => hangs),
    rejections: most(({ rejections }) => rejections),
  };
}

/** A table of Markdown. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
