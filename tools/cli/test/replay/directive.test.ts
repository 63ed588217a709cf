import { describe, expect, it } from 'vitest';
import { formatText } from '../../src/replay/formats/notation.ts';

const TEXT = '$remote_addr [$time_local] "$request" $status';

describe('the text of an nginx log_format', () => {
  it.each([
    ['alone', TEXT],
    ['in quotes', `'${TEXT}'`],
    ['as a directive', `log_format main '${TEXT}';`],
    [
      'as a directive in several parts',
      `\n  log_format  main escape=json\n    '$remote_addr [$time_local] '\n    '"$request" $status';\n`,
    ],
    [
      'as a directive with double quotes',
      String.raw`log_format main "$remote_addr [$time_local] \"$request\" $status";`,
    ],
  ])('is read %s', (_, text) => {
    expect(formatText(text)).toBe(TEXT);
  });
});
