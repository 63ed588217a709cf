import type { IdFormat } from '@sluice/core';
import { domain, fqdnSet } from '@sluice/domains';

/** The id formats that files may name, in addition to those of the core. */
export function moreFormats(): readonly IdFormat[] {
  return [domain().format, fqdnSet().format];
}
