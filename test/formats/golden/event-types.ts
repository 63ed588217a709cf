/** Reports of public types that have a property `type`, and no events. */
const WITHOUT_EVENTS: ReadonlySet<string> = new Set(['core-kit.api.md', 'core-metrics.api.md']);

/**
 * The types of events in reports of public types, each once.
 *
 * @param reports - The names of their files.
 */
export function eventTypesIn(reports: readonly string[], textOf: (report: string) => string): readonly string[] {
  const texts = reports.filter((name) => !WITHOUT_EVENTS.has(name)).map(textOf);
  const declared = texts.flatMap((text) =>
    Array.from(text.matchAll(/readonly type: ("[^;]+);/g), ([, types]) => types!),
  );
  const names = declared.flatMap((types) => Array.from(types.matchAll(/"([a-z-]+)"/g), ([, name]) => name!));
  return [...new Set(names)].toSorted();
}
