declare const SLUICE_VERSION: string | undefined;

/** The version of this copy of the package, which its build writes here. */
export const VERSION: string = typeof SLUICE_VERSION === 'string' ? SLUICE_VERSION : 'source';

/** The folder from which this copy of the package was loaded. */
export const HERE: string = placeOf(import.meta.url);

/** Returns the folder of a copy of the package, from the URL of this module or of a bundle. Some bundles have no URL. */
export function placeOf(url: string | undefined): string {
  return url?.replace(/(runtime\/)?[^/]*$/, '') ?? 'a bundle';
}

/** What to do when two copies are loaded. */
export const ONE_VERSION =
  'Install one version for all packages: `npm ls @sluice/core` shows who needs which, `npm dedupe` may be enough.';

/** A copy of the package. */
export interface Copy {
  readonly version: string;
  /** The folder from which it was loaded. */
  readonly place: string;
}

/** The end of a message about something of a copy with another version. */
export function otherCopy({ version, place }: Copy): string {
  return ` of @sluice/core ${version}, from ${place}, but this is ${VERSION}, from ${HERE}. ${ONE_VERSION}`;
}
