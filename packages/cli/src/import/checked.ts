import { checkLimits, type Problem } from '@sluice/config';
import { SluiceError } from '@sluice/core';
import { checkTableFiles } from '@sluice/serve';

/** The texts of the files that an import makes. */
interface Texts {
  readonly limits: string;
  readonly tables: string;
}

/**
 * Rejects files that `sluice check` would reject, such as tables that are too large.
 *
 * @throws {SluiceError} `ERR_LIMIT_FILES`
 */
export async function checkTexts({ limits, tables }: Texts): Promise<void> {
  const sources = { limits: () => limits, tables: () => tables };
  const problems: readonly Problem[] = [
    ...(await checkLimits({ defaults: sources.limits })),
    ...(await checkTableFiles(sources)),
  ];
  if (problems.length === 0) return;
  const lines = problems.map(({ message }) => message).join('\n');
  throw new SluiceError(
    'ERR_LIMIT_FILES',
    `The files can't be imported, because what they become is not valid:\n${lines}`,
  );
}
