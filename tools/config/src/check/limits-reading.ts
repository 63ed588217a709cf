import { createHash } from 'node:crypto';
import type { Awaitable, OverrideList } from '@sluice/core';
import type { Node } from '../nodes/node.ts';
import { Problems } from '../nodes/problems.ts';
import { limitRows, type LimitRow } from '../shape/limits-shape.ts';
import { overrideRows, type OverrideRow } from '../shape/overrides-shape.ts';
import type { IdsFiles } from '../sources/ids-files.ts';
import { rootOf } from '../sources/parse.ts';
import type { Content, Source } from '../sources/source.ts';
import { TimeSlice } from '../sources/time-slice.ts';
import { idLines } from '../text/id-lines.ts';
import type { Formats } from './formats.ts';
import { OverrideCheck, type FoundEnd, type IdText } from './override-check.ts';
import { PoolCheck } from './pool-check.ts';
import { problemsOf, type Problem } from './problem.ts';

/** What a reading reads. */
export interface LimitsSources {
  readonly defaults: Source<'defaults'>;
  readonly overrides: Source<'overrides'> | undefined;
}

/** The result of a reading. Use limits and overrides only if `problemCount` is 0. */
export interface LimitsRead {
  readonly limits: ReadonlyMap<string, LimitRow>;
  readonly overrides: OverrideList;
  /** The overrides with an end. */
  readonly ends: readonly FoundEnd[];
  /** A hash of the content of both sources, and of the files of ids. */
  readonly version: string;
  readonly problems: readonly Problem[];
  /** The number of problems, including those that are not listed. */
  readonly problemCount: number;
}

/** Validates rows one by one. */
type RowsOf<Row> = (root: Node | undefined, problems: Problems) => Iterable<Row>;

/** One reading of both sources, and of the files of ids that they name. */
export class LimitsReading {
  readonly #formats: Formats;
  readonly #idsFiles: IdsFiles;
  readonly #slice = new TimeSlice();
  readonly #hash = createHash('sha256');
  readonly #defaults: IdText;
  readonly #overrides: IdText;
  /** The files of ids that were read, by their names. */
  readonly #texts = new Map<string, IdText>();

  constructor({ defaults, overrides }: LimitsSources, formats: Formats, idsFiles: IdsFiles) {
    this.#formats = formats;
    this.#idsFiles = idsFiles;
    this.#defaults = { label: defaults.label, problems: new Problems() };
    this.#overrides = { label: overrides?.label ?? '', problems: new Problems() };
  }

  /** @param contents - Those of the limits, and of the overrides if there are any. */
  async of([ofLimits, ofOverrides]: readonly Content[]): Promise<LimitsRead> {
    const { problems } = this.#defaults;
    const limits = new Map<string, LimitRow>();
    await this.#eachRow(ofLimits!, { rowsOf: limitRows, problems }, (row) => {
      limits.set(row.name, row);
      this.#formats.check(row, problems);
    });
    const names = problems.unreadable ? undefined : new Set(limits.keys());
    if (names !== undefined) this.#formats.finish(names, problems);
    const pools = new PoolCheck(limits, this.#formats, problems);
    const overrides = this.#overrides;
    const check = new OverrideCheck({ formats: this.#formats, limits: names && limits, pools, overrides });
    if (ofOverrides !== undefined) {
      await this.#eachRow(ofOverrides, { rowsOf: overrideRows, problems: overrides.problems }, (row) =>
        row.idsFile === undefined ? check.take(row, this.#slice) : this.#takeFile(row, row.idsFile, check),
      );
    }
    const listing = [overrides, ...this.#texts.values()];
    const problemCount = listing.reduce((sum, text) => sum + text.problems.count, 0);
    if (problemCount === 0) pools.finish(check.list, problems);
    return {
      limits,
      overrides: check.list,
      ends: check.ends,
      version: this.#hash.digest('hex').slice(0, 16),
      problems: [this.#defaults, ...listing].flatMap((text) => problemsOf(text.label, text.problems)),
      problemCount: problems.count + problemCount,
    };
  }

  /** Parses a content, and takes its rows. Each content has its own part of the hash. */
  async #eachRow<Row>(
    content: Content,
    { rowsOf, problems }: { readonly rowsOf: RowsOf<Row>; readonly problems: Problems },
    take: (row: Row) => Awaitable<void>,
  ): Promise<void> {
    const reading = rootOf(content, problems);
    let step = reading.next();
    for (; step.done !== true; step = reading.next()) await this.#pass();
    await this.#pass();
    this.#hash.update('bytes' in content ? content.bytes : '').update('\0');
    for (const row of rowsOf(step.value, problems)) {
      if ('value' in content) this.#hash.update(JSON.stringify(row));
      await take(row);
      // The rest would only add to them.
      if (problems.isFull) return;
      await this.#pass();
    }
  }

  /** Takes the ids of a file that an override names. */
  async #takeFile(
    row: OverrideRow,
    { name, at }: NonNullable<OverrideRow['idsFile']>,
    check: OverrideCheck,
  ): Promise<void> {
    // The numbers of the override.
    await check.take(row, this.#slice);
    const file = await this.#idsFiles.read(name);
    if ('rejected' in file) {
      const message = `\`${row.limit!}.ids\` names a file that ${file.rejected}`;
      return this.#overrides.problems.add(at, message, row.limit);
    }
    const text = this.#texts.get(name) ?? { label: file.label, problems: new Problems() };
    this.#texts.set(name, text);
    for (const part of idLines(file.bytes, this.#hash, text.problems)) {
      await check.take({ ...row, ...part }, this.#slice, text);
      if (text.problems.isFull) return;
      await this.#pass();
    }
  }

  async #pass(): Promise<void> {
    if (this.#slice.isOver) await this.#slice.pass();
  }
}
